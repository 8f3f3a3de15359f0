#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Attacks on lasack (KTAP): floods, forged ACKs, SYNs inside a connection, many connections
# and many addresses, by the KUnit suites of kernel/lasack/attacks/. With flows that share
# equally, with stations that do, and with a target beside them.
#
# Run as root inside a lab kernel:
#	attacks.sh

plan=6
# shellcheck source=selftests/lib/lab.sh
. "$(dirname "$0")/../lib/lab.sh"
need_kunit
need_module lasack/attacks/lasack_attacks lasack/attacks/lasack_newcomer_attacks \
	lasack/attacks/lasack_forged_attacks lasack/attacks/lasack_burst_attacks

# attack FAIR [OPTIONS]: every suite that must hold with it.
attack() {
	quietly tc qdisc replace dev attack0 root lasack limit 1000 flows 4096 \
		overhead 640 inflight off fair "$@"
	say="attacks.sh $$: $*"
	echo "$say" > /dev/kmsg
	insert common/tests/test_parameters device=attack0
	insert lasack/attacks/lasack_attacks
	insert lasack/attacks/lasack_newcomer_attacks
	insert lasack/attacks/lasack_forged_attacks
	insert lasack/attacks/lasack_burst_attacks
	dmesg -t | sed "1,/^$say\$/d" > "$work/kunit"
	suites="lasack_attacks lasack_newcomer_attacks lasack_forged_attacks lasack_burst_attacks"
	# Without stations, fifty connections are fifty, and so are twenty groups.
	[ "$1" = flow ] ||
		suites="$suites lasack_station_attacks lasack_group_attacks lasack_address_attacks"
	for suite in $suites; do
		grep -qE "^ok [1-9] $suite\$" "$work/kunit" && continue
		echo "$suite:" >> "$work/errors"
		grep -E "not ok|FAILED|Expected|==" "$work/kunit" >> "$work/errors"
	done
	report "attacks with fair $*" "$work/errors"
	quietly rmmod lasack_burst_attacks lasack_forged_attacks lasack_newcomer_attacks lasack_attacks \
		test_parameters
}

watch_kernel
load
# Nothing is sent: the test takes the packets out itself.
ip link add attack0 type dummy
ip link set attack0 txqueuelen 1000 up
attack flow
attack station
attack station target 50ms
ip link del attack0
report_unload
report_kernel
ktap_end
