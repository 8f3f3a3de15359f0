#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# make install, make uninstall: puts what make has built where an operator's
# system looks for it, or takes it away again. Builds nothing, so that root
# runs no compiler.
#
#	install.sh install|uninstall
#
# Environment, also as make's variables:
#	DESTDIR	a staging directory before every path; nobody need be root then
#	PREFIX	of the tools and manual pages (/usr/local)
#	KDIR	the kernel that the modules are for (/lib/modules/$(uname -r)/build)
#	ARCH	of these modules (x86_64)
#	MODULES	no: without them, for DKMS has them (kernel/dkms.conf)
set -euo pipefail
cd "$(dirname "$0")/.."

DESTDIR=${DESTDIR:-} PREFIX=${PREFIX:-/usr/local} ARCH=${ARCH:-x86_64}
MODULES=${MODULES:-yes}
KDIR=${KDIR:-/lib/modules/$(uname -r)/build}
action=${1:-}

die() {
	echo "$action: $*" >&2
	exit 1
}

case $action in
install | uninstall) ;;
*) action=install.sh die "say install or uninstall" ;;
esac
[ -n "$DESTDIR" ] || [ "$(id -u)" -eq 0 ] ||
	die "not root: sudo make $action, or make $action DESTDIR=DIR"

# As kernel/Makefile finds it.
release=$(sed -n 's/.*UTS_RELEASE "\(.*\)"/\1/p' \
	"$KDIR/include/generated/utsrelease.h" 2>/dev/null) || [ "$MODULES" = no ] ||
	die "KDIR=$KDIR is no prepared kernel tree: install this kernel's headers"
built=build/modules/$release-$ARCH
extra=/lib/modules/$release/extra/lasack
plugins=/usr/lib/$(gcc -print-multiarch)/tc
man=$PREFIX/share/man/man8
completion=/etc/bash_completion.d/lasack

# FROM TO MODE, a line each: all there is to install.
list() {
	local file
	for file in inflight sch_inflight sch_lasack sch_ackwrr; do
		[ "$MODULES" = no ] || echo "$built/$file.ko $extra/$file.ko 644"
	done
	# Only a kernel with ftrace has it.
	if [ "$MODULES" != no ] && { [ "$action" = uninstall ] || [ -e "$built/tcp_ackskip.ko" ]; }; then
		echo "$built/tcp_ackskip.ko $extra/tcp_ackskip.ko 644"
	fi
	for file in q_inflight q_lasack q_ackwrr; do
		echo "build/tc/$file.so $plugins/$file.so 644"
	done
	for file in lasack-top lasack-doctor flowgen dcfmedium; do
		# An access point has no use for the laboratory's medium.
		[ "$file $action" = "dcfmedium install" ] && ! [ -e "build/bin/$file" ] ||
			echo "build/bin/$file $PREFIX/bin/$file 755"
	done
	for file in tc/man8/*.8 tools/man/*.8; do
		echo "$file $man/${file##*/} 644"
	done
	echo "tools/completion/lasack.bash $completion 644"
}

not_built() {
	case $1 in
	*.ko) die "no $1 yet: make -C kernel KDIR=$KDIR ARCH=$ARCH" ;;
	*) die "no $1 yet: make -C tc && make -C tools" ;;
	esac
}

# stop: what runs of it. Without its plugin, tc would not know what it finds on a device.
stop() {
	packaging/attach/attach --detach
	[ "$MODULES" = no ] || packaging/attach/unload
}

if [ "$action" = install ]; then
	list | while read -r from _; do
		[ -e "$from" ] || not_built "$from"
	done
	list | while read -r from to mode; do
		install -D -m "$mode" "$from" "$DESTDIR$to"
	done
else
	[ -n "$DESTDIR" ] || stop
	list | while read -r _ to _; do
		rm -f "$DESTDIR$to"
	done
	# The folders that a clean system has not; what has them too has something in them.
	for folder in "$extra" "${extra%/*}" "$man" "${completion%/*}"; do
		[ ! -d "$DESTDIR$folder" ] || rmdir --ignore-fail-on-non-empty "$DESTDIR$folder"
	done
fi
# A package does this where it is installed, not where it is made.
[ -n "$DESTDIR" ] || [ "$MODULES" = no ] || depmod "$release"
[ "$MODULES" = no ] && what="without modules" || what="modules of $release"
echo "$action: $(list | wc -l) files, $what${DESTDIR:+, below $DESTDIR}"
