#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# The first process of a lab kernel. The host's file system is the root,
# mounted read-only, so a guest that is root cannot harm the machine; only OUT
# is writable, at its own path. Runs one command and powers off.
#
#   init.sh STDOUT OUT WORKDIR COMMAND [ARG]...
#
# STDOUT is the guest's device for standard output.
# Leaves OUT/exit-status and, as the last thing, OUT/dmesg.log.

stdout=$1
out=$2
workdir=$3
shift 3

export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
export HOME=/run TMPDIR=/run/tmp LANG=C.UTF-8 TERM="${TERM:-dumb}"

mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t debugfs debugfs /sys/kernel/debug
mount -t devtmpfs devtmpfs /dev
mount -t tmpfs tmpfs /run
mkdir -p /run/tmp /run/netns
mount -t hostfs -o "$out" none "$out"
# Output is text for a pipe, not for a terminal: no CR before LF.
stty -onlcr < "$stdout"
exec > "$stdout"
ip link set lo up

cd "$workdir" || exit 1
"$@"
echo $? > "$out/exit-status"
cut -d' ' -f1 /proc/uptime > "$out/virtual-seconds"
dmesg > "$out/dmesg.log"
sync
echo o > /proc/sysrq-trigger
# Power-off is asynchronous; init must not return before it.
exec sleep 1000
