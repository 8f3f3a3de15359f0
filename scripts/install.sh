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
#	ARCH	of these modules (this machine's)
#	MODULES	no: without them, for DKMS has them (kernel/dkms.conf)
set -euo pipefail
cd "$(dirname "$0")/.."

DESTDIR=${DESTDIR:-} PREFIX=${PREFIX:-/usr/local} ARCH=${ARCH:-$(make -s --no-print-directory -C kernel arch)}
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

case $PREFIX in
*[[:space:]]*) die "PREFIX=$PREFIX: expected a path without spaces" ;;
/*) ;;
*) die "PREFIX=$PREFIX: expected a path that begins with /" ;;
esac

# As kernel/Makefile finds it. Nothing of the kernel is needed to take the modules away.
release=$(sed -n 's/.*UTS_RELEASE "\(.*\)"/\1/p' \
	"$KDIR/include/generated/utsrelease.h" 2>/dev/null) ||
	[ "$MODULES$action" != yesinstall ] ||
	die "KDIR=$KDIR is no prepared kernel tree: install this kernel's headers"
built=build/modules/$release-$ARCH
extra=/lib/modules/$release/extra/lasack
multiarch=$(gcc -print-multiarch 2>/dev/null || dpkg-architecture -qDEB_HOST_MULTIARCH 2>/dev/null ||
	true)
plugins=/usr/lib/${multiarch:+$multiarch/}tc
man=$PREFIX/share/man/man8
completion=/etc/bash_completion.d/lasack

modules='inflight sch_inflight sch_lasack sch_ackwrr tcp_ackskip'

# FROM TO MODE, a line each: all there is to install.
list() {
	local file
	for file in $modules; do
		# Only a kernel with ftrace has tcp_ackskip.
		[ "$MODULES" = no ] || [ "$file" = tcp_ackskip ] && ! [ -e "$built/$file.ko" ] ||
			echo "$built/$file.ko $extra/$file.ko 644"
	done
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

# What of it is there, a path each line: the modules of every kernel, and the plugins wherever
# they are. No compiler and no kernel's headers need be there any more.
installed() {
	local folder file
	for folder in "$DESTDIR/lib/modules/"*/extra/lasack; do
		for file in $modules; do
			[ "$MODULES" = no ] || echo "$folder/$file.ko"
		done
	done
	for folder in "$DESTDIR/usr/lib/tc" "$DESTDIR/usr/lib/"*/tc; do
		for file in q_inflight q_lasack q_ackwrr; do
			echo "$folder/$file.so"
		done
	done
	MODULES=no list | while read -r _ file _; do
		echo "$DESTDIR$file"
	done
}

not_built() {
	case $1 in
	*.ko) die "no $1 yet: make -C kernel KDIR=$KDIR ARCH=$ARCH" ;;
	*) die "no $1 yet: make -C tc && make -C tools" ;;
	esac
}

# stop: what runs of it. Without its plugin, tc would not know what it finds on a device.
stop() {
	packaging/attach/attach --detach || echo "$action: a device keeps its queue discipline" >&2
	[ "$MODULES" = no ] || packaging/attach/unload
}

put() {
	list | while read -r from _; do
		[ -e "$from" ] || not_built "$from"
	done
	list | while read -r from to mode; do
		# A system whose /etc cannot be written does without completion.
		install -D -m "$mode" "$from" "$DESTDIR$to" || [ "$to" = "$completion" ]
	done
	# A package does this where it is installed, not where it is made.
	[ -n "$DESTDIR" ] || [ "$MODULES" = no ] || depmod "$release"
	[ "$MODULES" = no ] && what="without modules" || what="modules of $release"
	echo "install: $(list | wc -l) files, $what${DESTDIR:+, below $DESTDIR}"
}

take_away() {
	local files folder
	[ -n "$DESTDIR" ] || stop
	mapfile -t files < <(installed | sort -u | while read -r file; do
		[ ! -e "$file" ] || echo "$file"
	done)
	[ ${#files[@]} -eq 0 ] || rm -f "${files[@]}"
	# The folders that a clean system has not; what has them too has something in them.
	for folder in "$DESTDIR/lib/modules/"*/extra/lasack; do
		if [ -d "$folder" ]; then
			rmdir --ignore-fail-on-non-empty "$folder" "${folder%/lasack}"
			folder=${folder%/extra/lasack}
			[ -n "$DESTDIR" ] || depmod "${folder##*/}"
		fi
	done
	for folder in "$man" "${completion%/*}"; do
		[ ! -d "$DESTDIR$folder" ] || rmdir --ignore-fail-on-non-empty "$DESTDIR$folder"
	done
	echo "uninstall: ${#files[@]} files${DESTDIR:+, below $DESTDIR}"
}

case $action in
install) put ;;
uninstall) take_away ;;
esac
