#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Every module compiles with clang for a kernel line, without a warning (KTAP).
#
#	scripts/clang.sh VERSION
#
# Headers packages are made with gcc and pass gcc's options. So the tree is the
# distribution's source, configured by clang as testbed/kernel/x86_64.config says.
# The log is build/modules-VERSION-clang.log.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
# shellcheck source=selftests/lib/ktap.sh
. selftests/lib/ktap.sh

version=$1
place=$PWD/build/clang/$version
log=$PWD/build/modules-$version-clang.log

found() { command -v "clang$1" && command -v "ld.lld$1" && command -v "llvm-ar$1"; } > /dev/null
# The newest that is here, or the distribution's own, which has no number.
for suffix in -21 -20 -19 ''; do
	if found "$suffix"; then break; fi
done
found "$suffix" || ktap_skip_all "no clang: apt-get install clang-19 lld-19 llvm-19"

build() { make "$@" LLVM="${suffix:-1}" ARCH=x86_64 "-j$(nproc)" >> "$log" 2>&1; }

# A tree like a headers package, but configured by clang.
prepare() {
	rm -rf "$place"
	mkdir -p "$place"
	.venv/bin/apbed kernel source --version "$version" "$place" &&
		build -C "$place/tree" defconfig &&
		cat testbed/kernel/x86_64.config >> "$place/tree/.config" &&
		build -C "$place/tree" olddefconfig &&
		grep -q '^CONFIG_CC_IS_CLANG=y' "$place/tree/.config" &&
		build -C "$place/tree" modules_prepare &&
		touch "$place/tree/Module.symvers"
}

# No kernel was built in the tree, so modpost knows no exported symbols and may warn of these.
known='modpost: ("[A-Za-z0-9_]+" \[.*\] undefined!|suppressed [0-9]+ unresolved symbol)'
modules() {
	build -C kernel KDIR="$place/tree" OUT="$place/modules" KCFLAGS=-Werror \
		KBUILD_MODPOST_WARN=1 && [ -e "$place/modules/tcp_ackskip.ko" ] || return
	! grep -iE 'warning:|added to multiple modules' "$log" | grep -qvE "$known"
}

ktap_begin 2
: > "$log"
prepare
ktap_result $? "a tree of $version prepared by clang$suffix" "$log"
: > "$log"
modules
ktap_result $? "modules for $version with clang$suffix: no warning" "$log"
rm -rf "$place"
ktap_end
