# SPDX-License-Identifier: GPL-2.0
#
# What a user runs. The work is in tools/; this only names it.

TREE := tools/tree/tree
LAB := tools/lab/lab

# Debian packages, for the whole of it.
DEPS := bc bison build-essential ccache cpio curl flex git kmod libelf-dev libssl-dev \
	linux-source-6.12 lz4 python3 quilt rsync xz-utils procps \
	qemu-system-x86 iproute2 \
	libcmocka-dev libjansson-dev libncurses-dev libzstd-dev libdw-dev libcap-dev libnuma-dev \
	gnuplot-nox shellcheck sparse python3-sphinx \
	linux-perf mrbayes redis-server redis-tools sqlite3

.PHONY: help
help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: deps
deps: ## install missing Debian packages (root), or print the apt line
	@tools/tree/deps $(DEPS)

.PHONY: kernel
kernel: deps ## get, patch and build the lab kernel (build/lab)
	$(TREE) build lab

.PHONY: kernel-debug
kernel-debug: deps ## the same with KASAN, lockdep, kmemleak, fault injection (build/debug)
	$(TREE) build debug

.PHONY: kernel-stock
kernel-stock: deps ## the unpatched kernel, to compare with (build/stock)
	$(TREE) build --stock lab

.PHONY: kernel-modules
kernel-modules: kernel ## one that loads modules, and the disk that seeks (build/modules)
	$(TREE) build modules --goal bzImage --goal modules
	$(MAKE) -s -C tools/lab seekdisk

.PHONY: tools
tools: deps ## the user's command, the virtual hardware, the simulators
	@for d in tools/libhpc tools/pathctl tools/vpath tools/vpmu tools/pathsim tools/clustersim tools/lab; do [ ! -e $$d/Makefile ] || $(MAKE) -C $$d || exit 1; done

.PHONY: demo
demo: kernel tools ## a real program's miss rate curve, drawn and proved
	tools/demo/demo

# chromium: looks at the report; prometheus: at what pathctl metrics prints.
check check-all: DEPS += chromium prometheus zstd
.PHONY: check
check: deps ## every test that CI runs, on the lab kernel
	tools/check/check

.PHONY: check-quick
check-quick: deps ## what an edit in mm-path/ can break, in minutes
	tools/check/check --quick

check-all: DEPS += gcc-aarch64-linux-gnu bpftool clang debhelper dwarves libbpf-dev
.PHONY: check-all
check-all: deps ## the whole matrix: debug kernel, each patch, each symbol, arm64, W=1, C=2
	tools/check/check --all

# Programs that experiments run.
bench: DEPS += bwa 7zip graphicsmagick jq lua5.4 mariadb-client-core mariadb-server-core minisat \
	qhull-bin xsltproc

# The disk that seeks has a kernel of its own.
ifneq ($(if $(EXP),$(filter prefetch-disks%,$(EXP)),all),)
bench: kernel-modules
endif

# One compares with the unpatched kernel.
ifneq ($(if $(EXP),$(filter off,$(EXP)),all),)
bench: kernel-stock
endif

.PHONY: bench
bench: kernel tools ## every figure we claim, measured; EXP="NAME...": these
	tools/bench/bench $(EXP)

.PHONY: report
report: deps ## build/report.html: all figures that were measured, beside those asked for
	tools/bench/report

.PHONY: patch
patch: deps ## one combined patch for your own kernel (build/path-for-linux-*.patch)
	@$(TREE) patch

# dwarves: without it a configuration that has BTF silently loses it.
deb: DEPS += debhelper dwarves
.PHONY: deb
deb: deps ## Debian packages of the patched kernel; CONFIG=file, default the running one's
	$(TREE) deb $(CONFIG)

.PHONY: shell
shell: kernel ## a shell in the lab
	$(LAB) run --shell

.PHONY: clean
clean: ## remove everything that was built (build/)
	rm -rf build
