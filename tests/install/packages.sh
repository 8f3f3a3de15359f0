#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Installs and purges lasack-dkms and lasack-tools in a root of its own. Run by root
# in a mount namespace (unshare -m); test_packages.py does that.
#
#	packages.sh DEB_DIR OUT HEADERS...
#
# HEADERS are build trees of kernels: the first is there before the packages, the
# others come later, with updates of the kernel. OUT/make-RELEASE, if it is there, is
# the make for a kernel that wants another compiler than this machine's. Leaves in
# OUT what was there before, while they were installed, and after the purge; and
# what dkms and modinfo say.
set -eu
# shellcheck source=tests/install/root.sh
. "$(dirname "$0")/root.sh"
wants=/etc/systemd/system/sys-subsystem-net-devices-wlan2.device.wants
debs=$(realpath "$1") out=$(realpath "$2")
shift 2

release_of() {
	sed -n 's/.*UTS_RELEASE "\(.*\)"/\1/p' "$1/include/generated/utsrelease.h"
}

new_root "$debs"

# come HEADERS: a kernel's headers, as their package puts them there
come() {
	release=$(release_of "$1")
	mkdir -p "/mnt/root/lib/modules/$release" "/mnt/root/opt/$release"
	# This machine may have the same kernel's headers, and so the link.
	ln -sfn "$1" "/mnt/root/lib/modules/$release/build"
	[ ! -e "$out/make-$release" ] || cp "$out/make-$release" "/mnt/root/opt/$release/make"
}

not_built() {
	cat /mnt/root/var/lib/dkms/lasack/0.1.0/build/make.log
	exit 1
}

# found: what modprobe finds for the kernel that came last
found() {
	inside depmod "$release" 2>> "$out/install.log"
	inside modprobe --set-version "$release" --show-depends sch_lasack > "$out/modprobe-$release"
	inside modinfo -k "$release" -F vermagic sch_lasack > "$out/vermagic-$release"
	rm -f /mnt/root/lib/modules/"$release"/modules.*
}

listing "$out/before"
come "$1"
shift
inside sh -c 'dpkg -i /mnt/lasack-dkms_*.deb /mnt/lasack-tools_*.deb' > "$out/install.log" 2>&1
inside dkms install lasack/0.1.0 -k "$release" >> "$out/install.log" 2>&1 || not_built
found
# What the package of a new kernel's headers runs.
for headers; do
	come "$headers"
	PATH=/opt/$release:$PATH inside /etc/kernel/header_postinst.d/dkms "$release" \
		>> "$out/install.log" 2>&1 || not_built
	found
done
listing "$out/installed"
inside dkms status > "$out/dkms"
inside tc qdisc add dev lo root lasack help > "$out/tc" 2>&1 || true
inside lasack-doctor --help > "$out/doctor"
# As the administrator of the machine does it; the purge takes it away.
inside systemctl enable lasack@wlan2 2>> "$out/install.log"
inside test -L "$wants/lasack@wlan2.service"
inside dpkg --purge lasack-tools lasack-dkms > "$out/purge.log" 2>&1
rm -f /mnt/root/lib/modules/*/modules.*
listing "$out/after"
