#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# What becomes of packets below a queue discipline when their device goes down,
# moves or is deleted, when the discipline is replaced and the modules go; a
# station that holds its packets; a driver that frees at once; and lasack's tap
# on what comes in (KTAP).
#
# Principle: a bridge keeps a packet's destructor, so packets for two stations wait
# behind it in links of their own, one good and one that passes next to nothing,
# as packets for a sleeper do.
#
# Run as root inside a lab kernel, best the debug one.

plan=12
# shellcheck source=selftests/lib/lab.sh
. "$(dirname "$0")/../lib/lab.sh"
need_program flowgen
near=life-near-$$ other=life-other-$$ link=life-link-$$ awake=life-awake-$$ asleep=life-asleep-$$
senders=
servers=

# shellcheck disable=SC2317 # called by the trap
cleanup() {
	stop_sending
	# shellcheck disable=SC2086 # process ids, or nothing
	[ -z "$servers" ] || kill $servers 2> "$work/kill"
	for space in "$near" "$other" "$link" "$awake" "$asleep"; do
		ip netns del "$space" 2> "$work/netns"
	done
}

near_tc() {
	quietly ip netns exec "$near" tc qdisc "$@"
}

# near (10.7.0.1) -- bridge -- awake (10.7.0.2) and asleep (10.7.0.3)
build_network() {
	for space in "$near" "$other" "$link" "$awake" "$asleep"; do
		ip netns add "$space"
		ip -n "$space" link set lo up
	done
	ip -n "$link" link add bridge type bridge
	ip -n "$link" link set bridge up
	number=1
	for space in "$near" "$awake" "$asleep"; do
		ip link add dev0 netns "$space" type veth peer name "port$number" netns "$link"
		ip -n "$link" link set "port$number" master bridge up
		ip -n "$space" link set dev0 address "02:00:00:00:00:0$number"
		# A bridge that has to learn floods, and clones to do so.
		bridge -n "$link" fdb add "02:00:00:00:00:0$number" dev "port$number" master static
		address "$space" "$number"
		number=$((number + 1))
	done
	number=0
	quietly ip netns exec "$link" tc qdisc add dev port2 root tbf rate 8mbit burst 4000 limit 100000
	quietly ip netns exec "$link" tc qdisc add dev port3 root tbf rate 100bit burst 1600 limit 10mb
}

# address SPACE NUMBER: up, and knowing the others: ARP would wait like all else.
address() {
	ip -n "$1" link set dev0 up
	ip -n "$1" addr replace "10.7.0.$2/24" dev dev0
	for peer in 1 2 3; do
		[ "$peer" = "$2" ] || ip -n "$1" neigh replace "10.7.0.$peer" dev dev0 \
			lladdr "02:00:00:00:00:0$peer" nud permanent
	done
}

# A server at each end: where there is none, an answer ends the sender.
start_servers() {
	for space in "$near" "$awake" "$asleep"; do
		ip netns exec "$space" flowgen serve --port 7001 --out "$work/served" &
		servers="$servers $!"
	done
	sleep 0.1
}

# send SPACE HOST COUNT EVERY: datagrams of 1000 bytes.
send() {
	ip netns exec "$1" flowgen pulse --id life --host "$2" --port 7001 \
		--count "$3" --every "$4" --bytes 1000 --out "$work/sent" > "$work/said" 2>&1
}

start_sending() {
	send "$1" "$2" 1000000 0.005 &
	senders="$senders $!"
}

# The shells that wait for the senders, and these.
stop_sending() {
	for sender in $senders; do
		pkill -TERM -P "$sender"
		wait "$sender"
	done 2> "$work/kill"
	senders=
}

# show NAME of the qdisc at the root of dev0: a number, or a word in quotes.
show() {
	ip netns exec "$near" tc -s -j qdisc show dev dev0 root > "$work/shown"
	sed -n "s/.*\"$1\":\([^,}]*\).*/\1/p" "$work/shown"
}

# expect NAME TEST NUMBER
expect() {
	shown=$(show "$1")
	test "${shown:-0}" "$2" "$3" && return
	{ echo "$1 is ${shown:-not there}, not $2 $3:"; cat "$work/shown"; } >> "$work/errors"
}

datagrams_of_awake() {
	ip netns exec "$awake" awk "/^Udp: [0-9]/ { print \$2 }" /proc/net/snmp
}

# expect_life WHAT: 20 datagrams for the other station arrive, all of them.
expect_life() {
	before=$(datagrams_of_awake)
	send "$near" 10.7.0.2 20 0.1 || cat "$work/said" >> "$work/errors"
	sleep 0.3
	arrived=$(($(datagrams_of_awake) - before))
	[ "$arrived" -eq 20 ] || echo "$1: $arrived of 20 datagrams arrived" >> "$work/errors"
}

sleeping_station() {
	near_tc replace dev dev0 root "$@"
	expect stalls -eq 0
	start_sending "$near" 10.7.0.3
	sleep 1
	expect_life "with $*: the cell waits for the sleeper"
	expect stalls -ge 1
	expect stalled -eq 1
	stop_sending
}

# The sleeper has the bound, and nobody sends any more. All that is to come is the timer.
quiet_beside_a_sleeper() {
	near_tc replace dev dev0 root "$@"
	quietly send "$near" 10.7.0.3 70 0.001
	expect in_flight -eq 64
	before=$(datagrams_of_awake)
	quietly send "$near" 10.7.0.2 1 0.1
	sleep 0.5
	arrived=$(($(datagrams_of_awake) - before))
	[ "$arrived" -eq 1 ] || echo "with $*: $arrived of 1 datagram arrived" >> "$work/errors"
	near_tc replace dev dev0 root pfifo
}

down_and_up() {
	near_tc replace dev dev0 root lasack inflight 2
	start_sending "$near" 10.7.0.3
	sleep 0.05
	expect in_flight -eq 2
	ip -n "$near" link set dev0 down
	expect in_flight -eq 2
	address "$near" 1
	expect_life "after down and up"
	stop_sending
}

replaced() {
	for kind in "lasack inflight 3" "inflight limit 2" "lasack inflight auto" pfifo \
		    "inflight limit 5 stall 10s" "lasack inflight 1"; do
		start_sending "$near" 10.7.0.3
		# shellcheck disable=SC2086 # words
		near_tc replace dev dev0 root $kind
		sleep 0.3
		stop_sending
	done
	expect_life "after replacements"
}

moved() {
	near_tc replace dev dev0 root lasack inflight 4 observe on
	start_sending "$near" 10.7.0.3
	sleep 0.1
	expect in_flight -ge 4
	stop_sending
	quietly ip -n "$near" link set dev0 netns "$other"
	ip netns exec "$other" tc qdisc show dev dev0 > "$work/shown"
	grep -q lasack "$work/shown" && cat "$work/shown" >> "$work/errors"
	address "$other" 1
	quietly ip netns exec "$other" tc qdisc replace dev dev0 root lasack inflight 4
	quietly send "$other" 10.7.0.2 5 0.1
	quietly ip -n "$other" link set dev0 netns "$near"
	address "$near" 1
	expect_life "after it came back"
}

# Its packets are out for minutes; a module that went would leave them no code.
removed() {
	near_tc replace dev dev0 root lasack inflight 4
	start_sending "$near" 10.7.0.3
	sleep 0.1
	stop_sending
	near_tc del dev dev0 root
	quietly rmmod sch_ackwrr sch_lasack sch_inflight
	rmmod inflight 2> "$work/said" && echo "unloaded with packets out" >> "$work/errors"
	# They are freed with the queue that holds them.
	quietly ip netns exec "$link" tc qdisc del dev port3 root
	sleep 2
	quietly rmmod inflight
	load
	quietly ip netns exec "$link" tc qdisc replace dev port3 root tbf rate 100bit burst 1600 limit 10mb
}

# dummy frees what it is given; veth and a bridge do not.
frees_at_once() {
	quietly ip -n "$near" link add dummy0 type dummy
	quietly ip -n "$near" link set dummy0 up
	quietly ip -n "$near" addr add 10.6.0.1/24 dev dummy0
	quietly ip -n "$near" neigh add 10.6.0.2 lladdr 02:00:00:00:00:99 dev dummy0 nud permanent
	near_tc add dev dummy0 root lasack inflight 4
	quietly send "$near" 10.6.0.2 200 0.002
	ip netns exec "$near" tc -s qdisc show dev dummy0 > "$work/shown"
	grep -q "backpressure none" "$work/shown" || cat "$work/shown" >> "$work/errors"
	quietly ip -n "$near" link del dummy0
	near_tc replace dev dev0 root lasack inflight 1
	quietly send "$near" 10.7.0.2 200 0.002
	[ "$(show backpressure)" = '"air"' ] || cat "$work/shown" >> "$work/errors"
}

# Nothing calls lasack any more: its code goes while packets come in.
unhooked() {
	quietly rmmod sch_lasack
	sleep 0.2
	insert sch_lasack
}

observed() {
	near_tc replace dev dev0 root lasack
	start_sending "$awake" 10.7.0.1
	sleep 0.5
	expect observed -eq 0
	near_tc change dev dev0 root lasack observe on
	sleep 0.5
	expect observed -gt 50
	expect observed_bytes -gt 50000
	for _ in 1 2 3 4 5; do
		near_tc change dev dev0 root lasack observe off
		near_tc change dev dev0 root lasack observe on
	done
	ip -n "$near" link set dev0 down
	address "$near" 1
	sleep 0.5
	expect observed -gt 10
	near_tc replace dev dev0 root pfifo
	unhooked
	near_tc replace dev dev0 root handle 1: inflight
	near_tc replace dev dev0 parent 1:1 lasack observe on
	sleep 0.2
	near_tc del dev dev0 root
	unhooked
	stop_sending
}

deleted() {
	near_tc replace dev dev0 root lasack inflight 4 observe on
	start_sending "$near" 10.7.0.2
	start_sending "$awake" 10.7.0.1
	sleep 0.2
	quietly ip -n "$near" link del dev0
	stop_sending
	sleep 1
}

watch_kernel
build_network
start_servers
load
sleeping_station lasack inflight 2
report "a sleeper's packets do not hold up the others'" "$work/errors"
sleeping_station inflight limit 2
report "the same below a FIFO" "$work/errors"
quiet_beside_a_sleeper lasack inflight 64
report "one datagram beside a sleeper that has the bound" "$work/errors"
down_and_up
report "the device goes down and up" "$work/errors"
replaced
report "the discipline is replaced" "$work/errors"
moved
report "the device moves to another namespace and back" "$work/errors"
removed
report "the module stays until its packets are gone" "$work/errors"
frees_at_once
report "a driver that frees at once has no back-pressure" "$work/errors"
observed
report "what comes in is seen while it is to be" "$work/errors"
deleted
unload
report "the device is deleted, the modules go" "$work/errors"
report_kernel
ktap_end
