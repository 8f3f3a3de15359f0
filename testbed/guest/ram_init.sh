#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# The first process of a stock kernel whose root is in memory. Runs one command
# in OUT; then the host's directory, tagged `out`, gets what the command left
# there, with exit-status, virtual-seconds and dmesg.log. Powers off.
#
#   ram_init.sh OUT COMMAND [ARG]...
#
# Nothing waits for the host before that, because how long the host takes would
# be the guest's time. What is written to OUT/progress goes to a serial line.

# shellcheck source=testbed/guest/session.sh
. "${0%/*}/session.sh"
out=$1
shift

mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t debugfs debugfs /sys/kernel/debug
mount -t devtmpfs devtmpfs /dev
mount -t tmpfs tmpfs /run
mkdir -p /run/tmp /run/netns
ln -s /dev/ttyS1 "$out/progress"

fix_limits
ip link set lo up
cd "$out" || exit 1
record "$out" "$@"

rm "$out/progress"
modprobe -a virtio_pci 9pnet_virtio 9p
mount -t 9p -o trans=virtio,version=9p2000.L,msize=262144 out /mnt
cp -r "$out/." /mnt
umount /mnt
power_off
