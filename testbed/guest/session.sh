# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0-only
#
# What the first process of every guest does alike. Sourced by it.

export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
export HOME=/run TMPDIR=/run/tmp LC_ALL=C TERM="${TERM:-dumb}"

# The kernel derives these limits from the memory that is free at boot, which
# differs between kernels, and between boots where the host's addresses are
# random. Here they are what a machine with more than a GiB has; the pages of
# tcp_mem and udp_mem are those of 768 MiB. Later namespaces copy tcp_rmem.
fix_limits() {
	echo "4096 131072 6291456" > /proc/sys/net/ipv4/tcp_rmem
	echo "4096 16384 4194304" > /proc/sys/net/ipv4/tcp_wmem
	echo "9216 12288 18432" > /proc/sys/net/ipv4/tcp_mem
	echo "18432 24576 36864" > /proc/sys/net/ipv4/udp_mem
}

# Runs a command and writes down how it ended: record OUT COMMAND [ARG]...
record() {
	recorded=$1
	shift
	"$@"
	echo $? > "$recorded/exit-status"
	cut -d' ' -f1 /proc/uptime > "$recorded/virtual-seconds"
	dmesg > "$recorded/dmesg.log"
}

# Power-off is asynchronous; init must not return before it.
power_off() {
	sync
	echo o > /proc/sysrq-trigger
	exec sleep 1000
}
