#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Installs and purges Debian packages in a root of its own: an overlay on this
# machine's, in memory, that nobody else sees. Run by root in a mount namespace
# (unshare -m); test_packages.py does that.
#
#	packages.sh DEB_DIR HEADERS OUT
#
# HEADERS is a kernel's build tree. Leaves in OUT what was there before, while
# they were installed, and after the purge; and what dkms and modinfo say.
set -eu
debs=$(realpath "$1") headers=$(realpath "$2") out=$(realpath "$3")
release=$(sed -n 's/.*UTS_RELEASE "\(.*\)"/\1/p' "$headers/include/generated/utsrelease.h")

mount --make-rprivate /
mount -t tmpfs -o size=90% none /mnt
mkdir /mnt/upper /mnt/work /mnt/root
mount -t overlay -o lowerdir=/,upperdir=/mnt/upper,workdir=/mnt/work none /mnt/root
mount --bind "$debs" /mnt/root/mnt
mount -t proc proc /mnt/root/proc
mount -t devtmpfs none /mnt/root/dev
# Packages that are installed in a chroot start no service.
inside() { chroot /mnt/root env DEBIAN_FRONTEND=noninteractive PATH="$PATH" LC_ALL=C "$@"; }

mkdir -p "/mnt/root/lib/modules/$release"
ln -s "$headers" "/mnt/root/lib/modules/$release/build"

# Every file but the books of dpkg and ld, and the key that dkms makes once and keeps.
listing() {
	(cd /mnt/root && find etc usr lib/modules var/lib/dkms -xdev ! -type d \
		! -name '*.pyc' ! -path etc/ld.so.cache ! -path 'var/lib/dkms/mok.*' \
		-printf '/%p %y %m %s %l\n' | sort) > "$out/$1"
}

listing before
inside sh -c 'dpkg -i /mnt/lasack-dkms_*.deb /mnt/lasack-tools_*.deb' > "$out/install.log" 2>&1
inside dkms install lasack/0.1.0 -k "$release" >> "$out/install.log" 2>&1 || {
	cat /mnt/root/var/lib/dkms/lasack/0.1.0/build/make.log
	exit 1
}
listing installed
inside dkms status > "$out/dkms"
inside depmod "$release" 2>> "$out/install.log"
inside modprobe --set-version "$release" --show-depends sch_lasack > "$out/modprobe"
inside tc qdisc add dev lo root lasack help > "$out/tc" 2>&1 || true
inside lasack-doctor --help > "$out/doctor"
rm -f /mnt/root/lib/modules/"$release"/modules.*
inside dpkg --purge lasack-tools lasack-dkms > "$out/purge.log" 2>&1
rm -f /mnt/root/lib/modules/"$release"/modules.*
listing after
