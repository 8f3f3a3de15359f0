#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Build tools/ and tc/ for another processor in build/cross/ARCH; a warning is a
# failure. Run under `apbed cross run ARCH --`, which says where the compiler is.
#
#   scripts/cross_tools.sh
#
# Debian has no libraries for big-endian MIPS: what needs one is compiled there,
# with the headers of another processor, but not linked.
set -eu
cd "$(dirname "$0")/.."
out=$PWD/build/cross/$ARCH
compiler="${CROSS_COMPILE}gcc --sysroot=$CROSS_ROOT -idirafter $CROSS_ROOT/usr/include"
export PKG_CONFIG_SYSROOT_DIR="$CROSS_ROOT"
export PKG_CONFIG_LIBDIR="$CROSS_ROOT/usr/lib/$CROSS_LIBRARIES/pkgconfig:$CROSS_ROOT/usr/share/pkgconfig"

build() {
	make -C "$@" CC="$compiler" BUILD="$out"
}

build tc OUT="$out/tc"
build tools/flowgen
for tool in lasack-top lasack-doctor; do
	if [ "$CROSS_LIBRARIES" = "${CROSS_COMPILE%-}" ]; then
		build "tools/$tool"
	else
		build "tools/$tool" objects
		echo "$tool for $ARCH: compiled, not linked: Debian has no libnl for it"
	fi
done
echo "tools for $ARCH: no warning"
