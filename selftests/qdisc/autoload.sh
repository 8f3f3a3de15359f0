#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Whether `tc` alone, or the sysctl net.core.default_qdisc alone, is enough: the kernel loads a
# queue discipline's module, and those it needs, when one is asked for by name; nothing keeps
# them once it is gone (KTAP).
#
# Run as root in a kernel whose modules are installed.

kinds="lasack ackwrr inflight"
default=$(sysctl -n net.core.default_qdisc)
plan=10
# shellcheck source=selftests/lib/lab.sh
. "$(dirname "$0")/../lib/lab.sh"
for kind in $kinds; do
	modinfo "sch_$kind" > "$work/modinfo" 2>&1 ||
		ktap_skip_all "sch_$kind is not where modprobe looks for it"
done

# shellcheck disable=SC2317 # called by the trap
cleanup() {
	sysctl -qw "net.core.default_qdisc=$default"
	ip link del autoload0 2> "$work/link"
}

ours() {
	lsmod | grep -oE '^(inflight|sch_lasack|sch_ackwrr|sch_inflight) '
}

unload_all() {
	for unloaded in $kinds; do
		modprobe -qr "sch_$unloaded"
	done
	ours >> "$work/errors"
}

result() {
	report "$1" "$work/errors"
}

watch_kernel
ip link add autoload0 type dummy
ip link set autoload0 txqueuelen 100 up
for kind in $kinds; do
	unload_all
	quietly tc qdisc replace dev autoload0 root "$kind"
	tc qdisc show dev autoload0 | grep -q "^qdisc $kind " || echo "not attached" >> "$work/errors"
	lsmod | grep -q "^sch_$kind " || echo "not loaded" >> "$work/errors"
	result "tc loads sch_$kind"
	if rmmod "sch_$kind" 2> "$work/rmmod"; then
		echo "a module in use was removed" >> "$work/errors"
	fi
	quietly tc qdisc del dev autoload0 root
	unload_all
	result "sch_$kind stays while it is in use, and goes then"

	quietly sysctl -qw "net.core.default_qdisc=$kind"
	[ "$(sysctl -n net.core.default_qdisc)" = "$kind" ] || echo "not set" >> "$work/errors"
	lsmod | grep -q "^sch_$kind " || echo "not loaded" >> "$work/errors"
	if rmmod "sch_$kind" 2> "$work/rmmod"; then
		echo "the module of the default was removed" >> "$work/errors"
	fi
	quietly sysctl -qw "net.core.default_qdisc=$default"
	unload_all
	result "net.core.default_qdisc loads sch_$kind, which goes with it"
done
sleep 1
kill "$log"
log=
complaints > "$work/complaints"
report "the kernel log is clean" "$work/complaints"
ktap_end
