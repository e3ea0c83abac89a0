# SPDX-License-Identifier: GPL-2.0
#
# The QEMU that is installed, or QEMU=, and the version of its interface for plugins: 1 is QEMU 7 and
# 8, 2 is 9.0, 3 is 9.1 and 9.2, later ones 4 and up.

QEMU ?= qemu-system-x86_64
QEMU_VERSION := $(shell $(QEMU) --version 2>/dev/null | sed -n 's/.*version \([0-9]*\.[0-9]*\).*/\1/p')
QEMU_API ?= $(shell echo $(or $(QEMU_VERSION),7.2) | awk -F. '{ \
	print $$1 < 9 ? 1 : $$1 == 9 && $$2 == 0 ? 2 : $$1 == 9 ? 3 : $$1 == 10 && $$2 == 0 ? 4 : 5 }')
