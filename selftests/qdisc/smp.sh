#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# The queue disciplines on several processors: traffic from all of them, packets
# freed on others, and meanwhile every way to configure and remove (KTAP).
#
# Principle: nothing is asserted of what the disciplines do, but that they did
# something. The judge is the kernel: KASAN and lockdep in one build, KCSAN in
# another (apbed smp). Of KCSAN's reports those count in which one of the two
# functions is ours; the kernel has races of its own.
#
# Run as root in a kernel with several processors:
#	smp.sh [SECONDS]
# SECONDS are of the host's clock. Works on the distribution's kernel, too.

seconds=${1:-120}
near=smp-near-$$ link=smp-link-$$ far=smp-far-$$
generators=
loops=

# shellcheck disable=SC2317 # called when the script ends
cleanup() {
	# shellcheck disable=SC2086 # lists of process ids, or nothing
	[ -z "$generators$loops" ] || { kill $generators $loops; pkill flowgen; } 2> "$work/kill"
	for space in "$near" "$link" "$far" smp-brief; do
		ip netns del "$space" 2> "$work/netns"
	done
}

plan=7
# shellcheck source=selftests/lib/lab.sh
. "$(dirname "$0")/../lib/lab.sh"
need_program flowgen
[ "$(nproc)" -gt 1 ] || ktap_skip_all "this machine has one processor"

# Packets that arrive are handled, and so freed, on any processor.
spread_receipt() {
	mask_of_all=$(printf '%x' $(((1 << $(nproc)) - 1)))
	ip netns exec "$1" sh -c "for mask in /sys/class/net/$2/queues/rx-*/rps_cpus; do
		echo $mask_of_all > \$mask
	done" 2>> "$work/errors"
}

# near -- bridge -- link -- far, which passes what it receives through an ifb.
build_network() {
	for space in "$near" "$link" "$far"; do
		ip netns add "$space"
		ip -n "$space" link set lo up
	done
	queues="numtxqueues 4 numrxqueues 4"
	# shellcheck disable=SC2086 # words
	ip link add dev0 netns "$near" $queues type veth peer name in netns "$link" $queues
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
	ip -n "$far" link add ifb0 type ifb
	for device in dev0 ifb0; do
		ip -n "$far" link set "$device" up
	done
	ip -n "$near" link set dev0 up
	quietly ip netns exec "$link" tc qdisc replace dev out root tbf rate 20mbit burst 10000 limit 1000000
	quietly ip netns exec "$far" tc qdisc add dev dev0 clsact
	quietly ip netns exec "$far" tc filter add dev dev0 ingress matchall \
		action mirred egress redirect dev ifb0
	for place in "$near dev0" "$link in" "$link out" "$far dev0"; do
		# shellcheck disable=SC2086 # words
		spread_receipt $place
	done
}

# again SPACE WORDS...: flowgen there, again whenever it ends because the link is
# down. tc(8) goes before it, or an emulated machine never gets to run it.
again() {
	space=$1
	shift
	while :; do
		ip netns exec "$space" nice -n 19 flowgen "$@"
		sleep 1
	done > "$work/flowgen-says" 2>&1
}

# TCP flows both ways and a stream of datagrams, each a process of its own.
start_traffic() {
	again "$near" serve --port 7001 --out "$work/served" &
	generators=$!
	again "$far" serve --port 7002 --out "$work/pulses" &
	generators="$generators $!"
	sleep 2
	for flow in 10.9.0.1:down 10.9.0.1:up fd00::1:down fd00::1:up; do
		again "$far" run --id "$flow" --host "${flow%:*}" --port 7001 \
			--dir "${flow##*:}" --seconds 100000 --out "$work/flow-$flow" &
		generators="$generators $!"
	done
	again "$near" pulse --id pulse --host 10.9.0.2 --port 7002 --count 100000000 \
		--every 0.005 --bytes 200 --out "$work/pulse" &
	generators="$generators $!"
}

# What tc(8) is told, a line each; every one has to succeed.
operations() {
	cat <<- END
		near replace dev dev0 root lasack inflight 64
		far replace dev ifb0 root lasack inflight 16
		near change dev dev0 root lasack limit 3 inflight 2
		near change dev dev0 root lasack limit 1000 inflight auto
		near change dev dev0 root lasack flows 5 memory_limit 64k
		near change dev dev0 root lasack flows 1024 idle 100ms memory_limit 32m halflife 100ms
		near change dev dev0 root lasack quantum 24000 floor 5 observe on target 1ms
		far replace dev ifb0 root ackwrr inflight 16
		near replace dev dev0 root handle 1: inflight limit 4
		near replace dev dev0 parent 1:1 handle 2: lasack limit 50
		near change dev dev0 root handle 1: inflight limit auto
		near replace dev dev0 parent 1:1 handle 3: fq_codel
		far change dev ifb0 root ackwrr weights auto
		near replace dev dev0 root handle 4: mq
		near replace dev dev0 parent 4:1 lasack inflight 8
		near replace dev dev0 parent 4:2 ackwrr inflight 8
		near replace dev dev0 parent 4:3 inflight limit 8
		near replace dev dev0 parent 4:4 lasack quantum 24000
		near replace dev dev0 root ackwrr weights auto inflight 32
		near change dev dev0 root ackwrr weights 2 1 limit 8
		far replace dev ifb0 root inflight limit 4
		near replace dev dev0 root lasack inflight 1
		near del dev dev0 root
		far del dev ifb0 root
	END
}

configure() {
	operations > "$work/operations"
	while read -r space words; do
		[ "$space" = near ] && space=$near || space=$far
		# shellcheck disable=SC2086 # words for tc
		quietly ip netns exec "$space" tc qdisc $words
		echo "# tc qdisc $words"
		sleep 0.1
	done < "$work/operations"
	echo pass >> "$work/passes"
}

# While all may be in use: packets that are still out keep a module.
reload() {
	quietly rmmod sch_ackwrr sch_lasack sch_inflight
	for _ in $(seq 100); do
		rmmod inflight 2> "$work/rmmod" && break
		sleep 0.2
	done
	load
	echo reloaded >> "$work/reloads"
}

# Statistics of everything, without an end, as any user may ask for them.
read_statistics() {
	while :; do
		sleep 0.2
		for space in "$near" "$far"; do
			ip netns exec "$space" tc -s qdisc show > "$work/statistics"
			awk '$1 == "Sent" && $2 > 0' "$work/statistics" >> "$work/sent"
			ip netns exec "$space" tc -s class show dev dev0 > "$work/classes"
		done
	done 2> "$work/read-errors"
}

flap_link() {
	while :; do
		sleep 3
		ip -n "$near" link set dev0 down
		sleep 0.2
		ip -n "$near" link set dev0 up
		ip -n "$near" addr replace fd00::1/64 dev dev0 nodad
		echo flapped >> "$work/flaps"
	done 2> "$work/flap-errors"
}

# A namespace that ends with packets queued and below.
make_namespaces() {
	number=0
	while :; do
		number=$((number + 1))
		flock --shared "$work/modules" sh -c "
			ip netns add smp-brief
			ip link add brief netns smp-brief type veth peer name brief$$ netns $link
			ip -n $link link set brief$$ master bridge up
			ip -n smp-brief addr add 10.9.0.3/24 dev brief
			ip netns exec smp-brief tc qdisc replace dev brief root lasack inflight 4
			ip -n smp-brief link set brief up
			timeout 3 ip netns exec smp-brief flowgen pulse --id brief --host 10.9.0.2 \
				--port 7002 --count 1000000 --every 0.001 --bytes 1000
			ip netns del smp-brief"
		echo made >> "$work/namespaces"
	done > "$work/namespace-says" 2>&1
}

# KCSAN prints each report between two lines of "=". Ours go to $1. KASAN's reports, which have
# such lines too, stay in the log.
split_races() {
	awk -v ours="$1" '
		function sort_report() {
			if (report ~ /data-race in [^\n]*\[(inflight|sch_inflight|sch_lasack|sch_ackwrr)\]/)
				print report > ours
			else if (report ~ /KCSAN/) {
				split(report, lines, "\n")
				others[lines[1]]++
			} else if (report != "")
				print report
		}
		/^=====/ {
			sort_report()
			inside = !inside
			report = ""
			next
		}
		inside { report = report (report == "" ? "" : "\n") $0; next }
		{ print }
		END {
			sort_report()
			for (title in others)
				print "# not ours, " others[title] " times: " title > "/dev/stderr"
		}
	' "$work/log" > "$work/log-without"
	mv "$work/log-without" "$work/log"
}

happened() {
	: > "$work/missing"
	[ -s "$work/$1" ] || echo "never" > "$work/missing"
	report "$2: $(wc -l < "$work/$1")" "$work/missing"
}

for list in passes reloads sent flaps namespaces modules; do
	: > "$work/$list"
done
watch_kernel
load
build_network
start_traffic
read_statistics &
loops=$!
flap_link &
loops="$loops $!"
make_namespaces &
loops="$loops $!"
end=$(($(date +%s) + seconds))
while [ "$(date +%s)" -lt "$end" ]; do
	configure
	# Nobody else may use the modules meanwhile.
	exec 9> "$work/modules"
	flock --exclusive 9
	reload
	exec 9>&-
	echo "# $((end - $(date +%s))) s left, $(wc -l < "$work/passes") passes"
done
report "every operation succeeded on $(nproc) processors" "$work/errors"
happened reloads "modules removed and loaded"
happened sent "statistics read that show packets"
happened flaps "device down and up"
happened namespaces "namespaces that ended with packets queued"
# shellcheck disable=SC2086 # lists of process ids
kill $loops $generators
pkill flowgen
loops=
generators=
sleep 2
: > "$work/races"
kill "$log"
log=
split_races "$work/races"
report "no data race in our code" "$work/races"
complaints > "$work/complaints"
report "the kernel log is clean" "$work/complaints"
ktap_end
