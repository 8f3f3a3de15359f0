# SPDX-License-Identifier: GPL-2.0-only
#
# The front door. Every target that needs something installs or builds it
# first, so `make demo` and `make check` work on a fresh clone.

APBED	 := .venv/bin/apbed
PYTHON	 := .venv/bin/python
MAKEFLAGS += --no-print-directory
# Debian leaves the folders of tc, iw and depmod out of a user's PATH.
export PATH := $(PATH):/usr/local/sbin:/usr/sbin:/sbin
VERSIONS := 6.1 6.12 7.2
# KERNEL=7.2 makes lab-kernel and modules for that line, not the distribution's.
LINE	  = $(KERNEL:%=--version %)

all: tools medium tc modules	## build everything for the default lab kernel

help:				## say what each target does
	@sed -n 's/^\([a-z-]*\):.*##/\1\t/p' Makefile | expand -t 14

setup:				## install packages and the Python environment, once
	@scripts/setup.sh

tools: setup			## build flowgen, lasack-top, lasack-doctor and the small tools of the lab
	@$(MAKE) -C tools
	@$(MAKE) -C testbed/kernel

medium: setup			## build dcfmedium, the 802.11 medium
	@$(MAKE) -C testbed/medium

tc: setup			## build the iproute2 plugins
	@$(MAKE) -C tc

lab-kernel: setup		## build the default lab kernel, once per user
	@$(APBED) kernel build $(LINE)

modules: lab-kernel		## build the kernel modules and the lab's own for the default lab kernel
	@$(MAKE) -C kernel KDIR="$$($(APBED) kernel tree $(LINE))" ARCH=um
	@$(MAKE) -C testbed/radio KDIR="$$($(APBED) kernel tree $(LINE))" ARCH=um \
		SOURCE="$$($(APBED) kernel hwsim $(LINE))"
	@$(MAKE) -C testbed/tcp KDIR="$$($(APBED) kernel tree $(LINE))" ARCH=um

# One at a time: suites that run side by side build for the same kernel.
stock: tools medium tc		## fetch a stock kernel and QEMU, build the modules: KERNEL=6.12
	@$(APBED) distro fetch $(LINE)
	@flock build/stock.lock $(APBED) distro modules $(LINE)

debug: setup			## build the lab kernel with its checkers on, and its modules
	@$(APBED) kernel build --debug
	@$(MAKE) -C kernel KDIR="$$($(APBED) kernel path --debug)/tree" ARCH=um

modules-all: setup		## build the modules for every supported kernel, without a warning
	@for version in $(VERSIONS); do \
		for arch in um x86_64; do \
			scripts/modules.sh $$version $$arch || exit; \
		done; \
	done

# No suite of Debian has 6.6, OpenWrt's, any more: these lines are on both sides of it.
CROSS_VERSIONS := 6.1 6.12
TARGETS	 := mips arm arm64

cross: setup			## build modules and tools for mips, arm, arm64 without a warning: TARGETS=mips
	@for arch in $(TARGETS); do \
		for version in $(or $(KERNEL),$(CROSS_VERSIONS)); do \
			scripts/modules.sh $$version $$arch || exit; \
		done; \
		$(APBED) cross run $$arch -- scripts/cross_tools.sh || exit; \
	done

modules-stock: setup		## build modules and tests for stock kernels, without a warning
	@mkdir -p build
	@for version in $(VERSIONS); do \
		$(APBED) distro fetch --version $$version || exit; \
		log=build/modules-stock-$$version.log; \
		flock build/stock.lock $(APBED) distro modules --version $$version TESTS=y KCFLAGS=-Werror \
			> $$log 2>&1 || { cat $$log; exit 1; }; \
		! grep -iE 'warning|added to multiple modules' $$log || exit; \
		echo "modules for stock $$version: no warning"; \
	done

demo: all			## compare FIFO, fq_codel and LAS-ACK at one access point
	@$(APBED) run testbed/scenarios/demo.toml --out out/demo

check: all debug		## run the tests; SUITE=NAME runs one suite, SUITE="A B" several
	@$(PYTHON) -m tests.runner $(SUITE)

check-kernels: all modules-stock	## the self-tests in stock kernels, in QEMU without KVM
	@$(PYTHON) -m tests.runner stock $(foreach version,$(VERSIONS), \
		stock-$(version)-qdisc stock-$(version)-tcp stock-$(version)-tc-testing \
		stock-$(version)-wifi)

check-all: all debug		## also the slow tests, and the tests in every supported kernel
	@for version in $(VERSIONS); do \
		$(APBED) kernel build --version $$version || exit; \
		$(APBED) kernel build --version $$version --stock || exit; \
		$(MAKE) modules KERNEL=$$version || exit; \
	done
	@$(MAKE) smp modules-stock
	@$(PYTHON) -m tests.runner --all

smp: setup			## build kernels for QEMU with KASAN and KCSAN, and their modules
	@$(APBED) distro fetch
	@for checker in kasan kcsan; do \
		$(APBED) smp build $$checker && \
		$(MAKE) -C kernel KDIR="$$($(APBED) smp tree $$checker)" ARCH=x86_64 || exit; \
	done

clean:				## remove build/ and out/; .venv and the kernels stay
	rm -rf build out

lock:				## pin the newest Python packages in requirements.lock
	@scripts/lock.sh

install:			## install what is built: DESTDIR=DIR PREFIX=/usr/local KDIR=DIR
	@scripts/install.sh install

uninstall:			## remove what make install has installed
	@scripts/install.sh uninstall

deb:				## build Debian packages in build/deb
	@scripts/deb.sh

measurements: all		## measure the figures of the documentation again: NAME=demo
	@$(PYTHON) scripts/measurements.py $(NAME)

# QUICK=1 and BENCH="lasack;fq_codel" are for tuning; all of it takes an hour.
bench: all			## measure what a packet costs: QUICK=1 BENCH="lasack;fq_codel"
	@$(if $(QUICK)$(BENCH),$(BENCH_CYCLES) --out $(BENCH_OUT),$(MAKE) bench-all)

BENCH_OUT = out/bench
BENCH_CYCLES = $(APBED) bench $(if $(QUICK),--quick) $(if $(BENCH),--kinds "$(BENCH)")

bench-all: all
	@$(APBED) distro fetch
	@$(MAKE) -C kernel KDIR="$$($(APBED) distro tree)" ARCH=x86_64
	@$(APBED) bench --out $(BENCH_OUT)/cycles
	@$(APBED) bench --instructions --out $(BENCH_OUT)/instructions
	@$(APBED) bench --iperf --out $(BENCH_OUT)/iperf
	@$(APBED) bench --iperf --cpus 1 --rounds 2 --out $(BENCH_OUT)/iperf-1
	@for part in cycles instructions iperf iperf-1; do \
		cat $(BENCH_OUT)/$$part/table.md; echo; \
	done > $(BENCH_OUT)/table.md

# A night on two quiet cores (DRY_RUN=1 says how long); QUICK=1 three quarters of an hour. Repeat it to go on.
bench-air: all			## compare lasack with what access points run today: QUICK=1 DRY_RUN=1
	@$(APBED) air $(if $(QUICK),--short) $(if $(DRY_RUN),--dry-run) \
		--out out/air$(if $(QUICK),-short)

papers: all			## repeat the papers' figures at full length, a night: EXECUTOR=dask://HOST:PORT
papers-short: all		## the same with fewer and shorter runs
papers papers-short:
	@status=0; for file in testbed/scenarios/papers/*.toml; do \
		$(APBED) run $$file $(if $(findstring short,$@),--short) $(KERNEL:%=--kernel %) \
			$(EXECUTOR:%=--executor %) \
			--out out/$@/$$(basename $$file .toml) || status=1; \
	done; exit $$status

.PHONY: all help setup tools medium tc lab-kernel modules debug modules-all cross \
	stock modules-stock demo check check-kernels check-all clean lock measurements bench bench-all bench-air papers papers-short smp install uninstall deb
