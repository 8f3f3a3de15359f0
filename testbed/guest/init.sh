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

# shellcheck source=testbed/guest/session.sh
. "${0%/*}/session.sh"

# -nc: neither the host's /run/mount nor the links in a path matter.
mount -nc -t proc proc /proc
mount -nc -t sysfs sysfs /sys
mount -nc -t debugfs debugfs /sys/kernel/debug
mount -nc -t devtmpfs devtmpfs /dev
mount -nc -t tmpfs tmpfs /run
mkdir -p /run/tmp /run/netns
mount -nc -t hostfs -o "$out" none "$out"

fix_limits
# Output is text for a pipe, not for a terminal: no CR before LF.
stty -onlcr < "$stdout"
exec > "$stdout"
ip link set lo up

cd "$workdir" || exit 1
record "$out" "$@"
power_off
