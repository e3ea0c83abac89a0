/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _MM_PATH_DRV_VPATH_KUNIT_H
#define _MM_PATH_DRV_VPATH_KUNIT_H
#endif
