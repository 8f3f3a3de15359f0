#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# A root to install packages in: an overlay on this machine's, in memory, that nobody else sees.
# Sourced by scripts that root runs in a mount namespace (unshare -m).
#
#	new_root DEB_DIR	makes it in /mnt/root; DEB_DIR is its /mnt
#	inside COMMAND...	runs a command in it
#	listing FILE		writes what is in it

new_root() {
	mount --make-rprivate /
	mount -t tmpfs -o size=90% none /mnt
	mkdir /mnt/upper /mnt/work /mnt/root
	mount -t overlay -o lowerdir=/,upperdir=/mnt/upper,workdir=/mnt/work none /mnt/root
	mount --bind "$1" /mnt/root/mnt
	mount -t proc proc /mnt/root/proc
	mount -t devtmpfs none /mnt/root/dev
}

# Packages that are installed in a chroot start no service.
inside() { chroot /mnt/root env DEBIAN_FRONTEND=noninteractive PATH="$PATH" LC_ALL=C "$@"; }

# Every file but the books of dpkg and ld, the key that dkms makes once and keeps, and headers.
listing() {
	(cd /mnt/root && find etc usr lib/modules var/lib/dkms -xdev ! -type d \
		! -name '*.pyc' ! -path etc/ld.so.cache ! -path 'var/lib/dkms/mok.*' \
		! -path '*lib/modules/*/build' \
		-printf '/%p %y %m %s %l\n' | sort) > "$1"
}
