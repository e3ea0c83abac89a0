/* SPDX-License-Identifier: GPL-2.0 */
/* cmocka and what it needs in front of it. */
#ifndef _TOOLS_UNIT_TEST_H
#define _TOOLS_UNIT_TEST_H

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "lib.h"

#include <cmocka.h>

/* %d in the message of a failed assertion does not tell which of many it was. */
#define assert_same(got, want)							\
	do {									\
		s64 __got = (got), __want = (want);				\
										\
		if (__got != __want)						\
			fail_msg("%s is %lld, not %lld", #got, __got, __want);	\
	} while (0)

#endif
