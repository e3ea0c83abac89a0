/* SPDX-License-Identifier: GPL-2.0 */
#include "../../../../include/linux/mmpath_sample.h"
