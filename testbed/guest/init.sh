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
export HOME=/run TMPDIR=/run/tmp LC_ALL=C TERM="${TERM:-dumb}"

# -nc: neither the host's /run/mount nor the links in a path matter.
mount -nc -t proc proc /proc
mount -nc -t sysfs sysfs /sys
mount -nc -t debugfs debugfs /sys/kernel/debug
mount -nc -t devtmpfs devtmpfs /dev
mount -nc -t tmpfs tmpfs /run
mkdir -p /run/tmp /run/netns
mount -nc -t hostfs -o "$out" none "$out"

# The kernel derives these limits from the memory that is free at boot, which
# differs between kernels, and between boots where the host's addresses are
# random. Here they are what a machine with more than a GiB has; the pages of
# tcp_mem and udp_mem are those of 768 MiB. Later namespaces copy tcp_rmem.
echo "4096 131072 6291456" > /proc/sys/net/ipv4/tcp_rmem
echo "4096 16384 4194304" > /proc/sys/net/ipv4/tcp_wmem
echo "9216 12288 18432" > /proc/sys/net/ipv4/tcp_mem
echo "18432 24576 36864" > /proc/sys/net/ipv4/udp_mem
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
