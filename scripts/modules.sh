#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Build all modules for one kernel line and processor; a warning is a failure.
#
#   scripts/modules.sh VERSION um|x86_64|mips|arm|arm64
#
# The log is build/modules-VERSION-ARCH.log.
set -eu
cd "$(dirname "$0")/.."
version=$1 arch=$2
log=build/modules-$version-$arch.log
mkdir -p build

tree=$(.venv/bin/apbed kernel tree --version "$version" --arch "$arch")
# If no kernel was built in a tree, it knows no exported symbols. There modpost
# may warn of these only.
known='^$' unresolved=
if [ ! -s "$tree/Module.symvers" ]; then
	known='modpost: ("[A-Za-z0-9_]+" \[.*\] undefined!|suppressed [0-9]+ unresolved symbol)'
	unresolved=KBUILD_MODPOST_WARN=1
fi
if ! .venv/bin/apbed cross run "$arch" -- make -C kernel KDIR="$tree" ARCH="$arch" \
	KCFLAGS=-Werror ${unresolved:+"$unresolved"} > "$log" 2>&1; then
	cat "$log"
	exit 1
fi
if grep -iE 'warning:|added to multiple modules' "$log" | grep -vE "$known"; then
	exit 1
fi
echo "modules for $version on $arch: no warning"
