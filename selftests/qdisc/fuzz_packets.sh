#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Fuzzed packets through a whole queue discipline in the kernel (KTAP): devices
# with and without Ethernet addresses, the KUnit suite kernel/common/tests/qdisc_fuzz.c
# and the kernel's own checkers.
#
# Run as root inside a lab kernel, best the debug one:
#	fuzz_packets.sh [PACKETS [SEED [KIND]...]]
# PACKETS are shared by the kinds, lasack, ackwrr and inflight by default.

packets=${1:-20000}
seed=${2:-1}
[ $# -lt 2 ] || shift
[ $# -eq 0 ] || shift
[ $# -gt 0 ] || set -- lasack ackwrr inflight

plan=$((3 * $# + 3))
# shellcheck source=selftests/lib/lab.sh
. "$(dirname "$0")/../lib/lab.sh"
need_kunit
need_module common/tests/qdisc_fuzz

# Small queues and tables, so that every bound is reached.
options_of() {
	case $1 in
	inflight) echo "limit 8" ;;
	ackwrr) echo "limit 20 inflight 8" ;;
	lasack) echo "limit 60 memory_limit 64k flows 8 inflight 8" ;;
	esac
}

# The rest of what there is to switch on.
more_options_of() {
	case $1 in
	lasack) echo "halflife 200ms quantum 3000 floor 20 idle 100ms observe on target 1ms" ;;
	inflight) echo "stall 10ms" ;;
	ackwrr) echo "weights auto" ;;
	esac
}

# Fuzz that never gets to some branch proves little: each cause must be there.
every_cause() {
	[ "$1" = lasack ] || return
	tc -s qdisc show dev "$2" > "$work/statistics"
	for cause in portless fragment truncated malformed overflow evicted; do
		grep -q " $cause [1-9]" "$work/statistics" || echo "no $cause" >> "$work/errors"
	done
}

# fuzz KIND DEVICE PACKETS OPTIONS...
fuzz() {
	kind=$1 device=$2 count=$3
	shift 3
	quietly tc qdisc replace dev "$device" root "$kind" "$@"
	say="fuzz_packets.sh $$: test $ktap_number"
	echo "$say" > /dev/kmsg
	insert common/tests/test_parameters \
		device="$device" packets="$count" seed="$seed"
	insert common/tests/qdisc_fuzz
	dmesg -t | sed "1,/^$say\$/d" > "$work/kunit"
	grep -q '^ok 1 qdisc_fuzz$' "$work/kunit" || cat "$work/kunit" >> "$work/errors"
	grep -E '# fuzz' "$work/kunit"
	every_cause "$kind" "$device"
	report "$count packets through $kind $* on $device" "$work/errors"
	quietly rmmod qdisc_fuzz test_parameters
}

watch_kernel
load
ip link add fuzz0 type dummy
ip link set fuzz0 txqueuelen 50 up
ip tuntap add fuzz1 mode tun
ip link set fuzz1 txqueuelen 50 up
for kind in "$@"; do
	share=$(((packets + 3 * $# - 1) / (3 * $#)))
	# shellcheck disable=SC2046 # options are words
	fuzz "$kind" fuzz0 "$share" $(options_of "$kind")
	# shellcheck disable=SC2046
	fuzz "$kind" fuzz0 "$share" $(options_of "$kind") $(more_options_of "$kind")
	# shellcheck disable=SC2046
	fuzz "$kind" fuzz1 "$share" $(options_of "$kind")
done
ip link del fuzz0
ip link del fuzz1
report_unload
report_kernel
ktap_end
