#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Load, change, replace and remove the queue disciplines under traffic, then
# unload the modules, and look whether the kernel complained (KTAP).
#
# Principle: the packets below the qdisc under test wait in a slow link behind
# a bridge, in another namespace. A bridge keeps a packet's destructor, so
# qdiscs and modules go while their packets are still out.
#
# Run as root inside a lab kernel (best the debug one), from anywhere:
#	qdisc_churn.sh [ROUNDS]

rounds=${1:-100}
near=churn-near-$$ link=churn-link-$$ far=churn-far-$$
generators=

# shellcheck disable=SC2317 # called when the script ends
cleanup() {
	# shellcheck disable=SC2086 # a list of process ids, or nothing
	[ -z "$generators" ] || kill $generators 2> "$work/kill"
	for space in "$near" "$link" "$far"; do
		ip netns del "$space" 2> "$work/netns"
	done
}

plan=6
# shellcheck source=selftests/lib/lab.sh
. "$(dirname "$0")/../lib/lab.sh"
need_program flowgen

near_tc() {
	quietly ip netns exec "$near" tc qdisc "$@"
}

# near -- bridge -- slow link -- far
build_network() {
	for space in "$near" "$link" "$far"; do
		ip netns add "$space"
	done
	ip link add dev0 netns "$near" type veth peer name in netns "$link"
	ip link add dev0 netns "$far" type veth peer name out netns "$link"
	ip -n "$link" link add bridge type bridge
	for port in in out; do
		ip -n "$link" link set "$port" master bridge up
	done
	ip -n "$link" link set bridge up
	ip -n "$near" addr add 10.9.0.1/24 dev dev0
	ip -n "$far" addr add 10.9.0.2/24 dev dev0
	ip -n "$near" addr add fd00::1/64 dev dev0 nodad
	ip -n "$far" addr add fd00::2/64 dev dev0 nodad
	ip -n "$near" link set dev0 up
	ip -n "$far" link set dev0 up
	slow_link 20mbit
	# What comes in is there for its ACKs alone.
	quietly ip netns exec "$link" tc qdisc add dev in root tbf rate 4mbit burst 4000 limit 100000
}

slow_link() {
	quietly ip netns exec "$link" tc qdisc replace dev out root \
		tbf rate "$1" burst 4000 limit 100000
}

# TCP both ways, IPv4 and IPv6, and UDP (which ends when the link is down).
start_traffic() {
	ip netns exec "$near" flowgen serve --port 7001 --out "$work/served" &
	generators=$!
	sleep 0.1
	for flow in 10.9.0.1:down 10.9.0.1:up fd00::1:down fd00::1:up; do
		ip netns exec "$far" flowgen run --id "$flow" --host "${flow%:*}" \
			--port 7001 --dir "${flow##*:}" --seconds 100000 \
			--out "$work/flow-$flow" &
		generators="$generators $!"
	done
	ip netns exec "$far" flowgen serve --port 7002 --out "$work/pulses" &
	generators="$generators $!"
	sleep 0.1
	ip netns exec "$near" flowgen pulse --id pulse --host 10.9.0.2 --port 7002 \
		--count 1000000 --every 0.01 --bytes 200 --out "$work/pulse" &
	generators="$generators $!"
}

# The last packets may still be out: then rmmod must refuse, and soon not.
unload() {
	quietly rmmod sch_ackwrr sch_lasack sch_inflight
	for _ in $(seq 100); do
		rmmod inflight 2> "$work/rmmod" && return
		echo refused >> "$work/refusals"
		sleep 0.1
	done
	quietly rmmod inflight
}

one_round() {
	load
	near_tc replace dev dev0 root lasack
	sleep 0.03
	near_tc change dev dev0 root lasack limit 3 inflight 2
	sleep 0.03
	near_tc change dev dev0 root lasack limit 1000 inflight auto
	near_tc change dev dev0 root lasack flows $(($1 % 5 + 1)) memory_limit 64k
	sleep 0.03
	near_tc change dev dev0 root lasack flows 1024 idle 100ms memory_limit 32m \
		halflife 100ms quantum 24000 floor 5
	sleep 0.03
	quietly ip netns exec "$near" tc -s class show dev dev0
	near_tc change dev dev0 root lasack halflife off quantum off floor off
	near_tc replace dev dev0 root handle 1: inflight limit $(($1 % 4 + 1))
	near_tc replace dev dev0 parent 1:1 handle 2: lasack limit $(($1 + 5))
	sleep 0.03
	near_tc replace dev dev0 parent 1:1 handle 3: fq_codel
	near_tc change dev dev0 root handle 1: inflight limit auto
	sleep 0.03
	near_tc del dev dev0 parent 1:1
	sleep 0.01
	near_tc replace dev dev0 root handle 4: tbf rate 15mbit burst 4000 limit 100000
	near_tc replace dev dev0 parent 4:1 handle 5: lasack limit 10
	sleep 0.03
	ip -n "$near" link set dev0 down
	ip -n "$near" link set dev0 up
	ip -n "$near" addr replace fd00::1/64 dev dev0 nodad
	sleep 0.03
	near_tc replace dev dev0 root handle 6: inflight limit 3
	sleep 0.01
	near_tc del dev dev0 root
	unload
}

# A link so slow that it is never idle: the bound is always reached. But a packet
# is gone within the 100 ms after which a station stalls. There is no GSO, because
# a GSO packet may exceed the bound (tracker.c). The link would also take a large
# one apart. Nobody follows its segments, and the packets that are followed would
# wait behind them until their station stalls.
exact_bound() {
	quietly ip -n "$near" link set dev0 gso_max_segs 1
	load
	for bound in 1 2 10; do
		near_tc replace dev dev0 root lasack inflight "$bound"
		sleep 1
		slow_link 400kbit
		sleep 2
		ip netns exec "$near" tc -s -j qdisc show dev dev0 > "$work/bounded"
		grep -q "\"in_flight\":$bound,.*\"stalls\":0," "$work/bounded" ||
			{ echo "not $bound in flight, or a stall:"; grep -o '"in_flight".*' "$work/bounded"; } \
				>> "$work/errors"
	done
}

# The packets outlive their qdisc for a second or so: all that waited are out then.
outstanding_packets() {
	near_tc change dev dev0 root lasack inflight 1000
	sleep 1
	near_tc del dev dev0 root
	rm -f "$work/refusals"
	unload
	[ -s "$work/refusals" ] ||
		echo "inflight was unloaded with packets out" >> "$work/errors"
}

watch_kernel
build_network
start_traffic
for round in $(seq "$rounds"); do
	[ $((round % 5)) -ne 1 ] || echo "# round $round of $rounds"
	one_round "$round"
done
report "$rounds rounds of load, replace, change, remove, unload" "$work/errors"

exact_bound
report "as many packets are out as the bound says" "$work/errors"

outstanding_packets
report "packets that are out keep the module" "$work/errors"

slow_link 20mbit
sleep 3
# shellcheck disable=SC2086 # a list of process ids
kill $generators 2> "$work/kill"
# shellcheck disable=SC2086
wait $generators
generators=
for flow in "$work"/flow-*; do
	grep -q '"error": *null' "$flow" || cat "$flow" >> "$work/errors"
done
report "the traffic lived through it" "$work/errors"

report_kernel
ktap_end
