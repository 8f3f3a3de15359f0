#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Whether GSO packets stay whole, and how they are followed (KTAP).
#
# Principle: packets are counted by their segments and followed one by one. So a
# discipline that sends many more than it follows has kept them whole; one that
# follows what it sends has segmented them. veth takes them whole if its TSO is on.
#
# Run as root inside a lab kernel.

plan=7
# shellcheck source=selftests/lib/lab.sh
. "$(dirname "$0")/../lib/lab.sh"
need_program flowgen
near=gso-near-$$ far=gso-far-$$
server=

# shellcheck disable=SC2317 # called by the trap
cleanup() {
	[ -z "$server" ] || kill "$server" 2> "$work/kill"
	for space in "$near" "$far"; do
		ip netns del "$space" 2> "$work/netns"
	done
}

# near (10.7.0.1) -- far (10.7.0.2)
build_network() {
	for space in "$near" "$far"; do
		ip netns add "$space"
		ip -n "$space" link set lo up
	done
	ip link add dev0 netns "$near" type veth peer name dev0 netns "$far"
	number=1
	for space in "$near" "$far"; do
		# No packets but of the connection.
		ip -n "$space" link set dev0 addrgenmode none multicast off up
		ip -n "$space" addr add "10.7.0.$number/24" dev dev0
		number=$((number + 1))
	done
}

# show NAME: a number of the discipline's statistics.
show() {
	sed -n "s/.*\"$1\":\([0-9]*\).*/\1/p" "$work/shown"
}

# transfer WORDS...: 4 MB through this discipline.
transfer() {
	quietly ip netns exec "$near" tc qdisc replace dev dev0 root "$@"
	quietly ip netns exec "$near" flowgen run --id gso --host 10.7.0.2 --port 7001 \
		--dir up --bytes 4M --out "$work/sent"
	sleep 1
	ip netns exec "$near" tc -s -j qdisc show dev dev0 root > "$work/shown"
	quietly ip netns exec "$near" tc qdisc del dev dev0 root
	packets=$(show packets) tracked=$(show tracked)
	# 1448 bytes in each; connecting and closing take a few more.
	test "${packets:-0}" -ge 2763 || echo "$packets packets counted" >> "$work/errors"
	for name in in_flight counted untracked lost; do
		test "$(show $name)" -eq 0 || echo "$name is $(show $name)" >> "$work/errors"
	done
}

# expect WHAT TEST...
expect() {
	what=$1
	shift
	test "$@" || echo "$packets packets, $tracked of them followed" >> "$work/errors"
	report "$what" "$work/errors"
}

watch_kernel
load
build_network
ip netns exec "$far" flowgen serve --port 7001 --out "$work/served" &
server=$!
sleep 0.1

transfer lasack inflight 64
expect "whole below a bound that they fit into" "$tracked" -lt $((packets / 4))
transfer lasack inflight 1
expect "segmented below a smaller bound" "$tracked" -eq "$packets"
transfer lasack inflight auto
expect "segmented below a bound of time" "$tracked" -eq "$packets"
quietly ip netns exec "$near" ethtool -K dev0 tso off gso on
transfer lasack inflight 64
expect "segmented for a device that does not take them whole" "$tracked" -eq "$packets"
report_unload
report_kernel
ktap_end
