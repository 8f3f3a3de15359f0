#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# The module tcp_ackskip on the distribution's own kernel (KTAP).
#
# Run as root in it, from anywhere; ackskip_module.sh boots it:
#	ackskip_guest.sh packets [TEST]...	the rules, segment by segment, in virtual time
#	ackskip_guest.sh edges [TEST]...	where they meet something else
#	ackskip_guest.sh refusals		where it must not load, and what it says then
#	ackskip_guest.sh off [SEGMENTS]		loaded, but off: TCP answers as without it
#	ackskip_guest.sh leaks [TIMES]		loaded and unloaded with nothing else going on
#	ackskip_guest.sh churn [ROUNDS]		loaded and unloaded under traffic
#	ackskip_guest.sh short			a bit of each but off

what=${1:-packets}
[ $# -eq 0 ] || shift
generators=

# shellcheck disable=SC2317 # called when the script ends
cleanup() {
	# shellcheck disable=SC2086 # a list of process ids, or nothing
	[ -z "$generators" ] || kill $generators 2> "$work/kill"
}

plan=
# shellcheck source=selftests/lib/lab.sh
. "$(dirname "$0")/../lib/lab.sh"
need_module tcp_ackskip
sysctls=/proc/sys/net/ipv4
tracing=/sys/kernel/tracing

hooked() {
	grep -cE '^(__tcp_ack_snd_check|__tcp_cleanup_rbuf|tcp_send_ack) .*\[tcp_ackskip\]' "$tracing/enabled_functions"
}

# refused MODULE WORDS: it does not load, says WORDS, and leaves nothing.
refused() {
	dmesg -C
	if try_insert "$1" 2> "$work/said"; then
		echo "it loads" >> "$work/errors"
		rmmod "$(basename "$1")"
	fi
	dmesg | grep -q "$2" || { echo "it does not say: $2"; dmesg; } >> "$work/errors"
	[ "$(hooked)" = 0 ] || echo "a hook is left" >> "$work/errors"
	[ ! -e "$sysctls/tcp_ack_every" ] || echo "a sysctl is left" >> "$work/errors"
}

result() {
	report "$1" "$work/errors"
}

# What a network namespace of its own says of the sysctl.
elsewhere() {
	ip netns exec elsewhere cat "$sysctls/tcp_ack_skip"
}

# counter NAMESPACE NAME
counter() {
	ip netns exec "$1" nstat -asz "$2" | awk -v name="$2" '$1 == name { print $2 }'
}

# packet_tests FILE [ARGUMENT]...
packet_tests() {
	tests=$selftests/tcp/$1
	shift
	quietly modprobe -a tun tcp_dctcp
	insert tcp_ackskip
	# A nanosecond per instruction: the script's own take so long. An ACK that is withheld comes
	# after 40 ms.
	AT_ONCE_US=5000 /usr/bin/python3 "$tests" "$@" || ktap_failed=1
	ktap_plan 2
	quietly rmmod tcp_ackskip
	result "unloads"
	dmesg --notime > "$work/log"
	awk '/WARNING|BUG|Oops|Call Trace|refcount/' "$work/log" > "$work/complaints"
	report "the kernel log is clean" "$work/complaints"
}

refusals() {
	need_module ackskip/tests/ackskip_rival ackskip/tests/ackskip_absent
	ktap_plan 10
	refused ackskip/tests/ackskip_absent "no __tcp_cleanup_rbuf_absent() that ftrace can hook"
	result "refuses a kernel without the function"
	for function in __tcp_ack_snd_check __tcp_cleanup_rbuf; do
		insert ackskip/tests/ackskip_rival function="$function"
		refused tcp_ackskip "$function() belongs to a live patch or another module"
		quietly rmmod ackskip_rival
		result "refuses where $function is replaced"
	done
	insert ackskip/tests/ackskip_rival sysctl=1
	refused tcp_ackskip "net.ipv4.tcp_ack_skip is there already"
	quietly rmmod ackskip_rival
	result "refuses a kernel that has the sysctl"
	echo 0 > /proc/sys/kernel/ftrace_enabled
	refused tcp_ackskip "or kernel.ftrace_enabled is 0"
	echo 1 > /proc/sys/kernel/ftrace_enabled
	result "refuses where ftrace is off"

	ip netns add elsewhere
	insert tcp_ackskip
	[ "$(hooked)" = 3 ] || grep tcp_ "$tracing/enabled_functions" >> "$work/errors"
	[ "$(cd "$sysctls" && cat tcp_ack_*)" = "$(printf '2\n0\n64\n0')" ] ||
		grep . "$sysctls"/tcp_ack_* >> "$work/errors"
	result "loads, hooks its functions, and is off"
	if echo 0 2> "$work/said" > /proc/sys/kernel/ftrace_enabled; then
		echo "ftrace can be turned off" >> "$work/errors"
	fi
	result "cannot be turned off behind its back"
	echo 3 > "$sysctls/tcp_ack_skip"
	[ "$(elsewhere)" = 0 ] || echo "not 0 elsewhere: $(elsewhere)" >> "$work/errors"
	ip netns del elsewhere
	ip netns add elsewhere
	[ "$(elsewhere)" = 0 ] || echo "not 0 in a new namespace: $(elsewhere)" >> "$work/errors"
	result "each network namespace has its own"
	quietly rmmod tcp_ackskip
	[ "$(hooked)" = 0 ] || echo "a hook is left" >> "$work/errors"
	[ ! -e "$sysctls/tcp_ack_skip" ] || echo "a sysctl is left" >> "$work/errors"
	result "unloads, and leaves nothing"
	# It cannot be unlocked again.
	echo integrity > /sys/kernel/security/lockdown
	refused tcp_ackskip "Lockdown: insmod: unsigned module loading is restricted"
	result "a locked-down kernel refuses it unsigned"
}

# trace NAME [SEGMENTS]: what TCP answers to ack_trace.py, but for the times: the
# module's own instructions take some. Where segments follow each other in 20 us,
# less than the emulated script takes, chance says when they are read.
trace() {
	quietly /usr/bin/python3 "$selftests/tcp/ack_trace.py" "$work/trace" "${2:-4000}"
	awk '/^#/ { compared = !/gap 2e-05/ } compared' "$work/trace" | cut -d' ' -f 2- > "$work/$1"
	echo "# $1: $(grep -c '+' "$work/$1") answers"
}

# differ NAME: in how many lines it is not as without the module
differ() {
	diff "$work/without" "$work/$1" | grep -c '^[<>]'
}

off() {
	ktap_plan 2
	quietly modprobe tun
	trace without "$@"
	insert tcp_ackskip
	trace loaded "$@"
	differ loaded > "$work/lines"
	[ "$(cat "$work/lines")" = 0 ] ||
		diff -U 1 "$work/without" "$work/loaded" | head -n 20 >> "$work/errors"
	result "answers as without it"
	echo 7 > "$sysctls/tcp_ack_skip"
	echo 0 > "$sysctls/tcp_ack_skip_after"
	trace skipping "$@"
	[ "$(differ skipping)" -gt 0 ] || echo "the trace cannot tell" >> "$work/errors"
	result "answers otherwise when it is on"
}

# Three flows both ways between two namespaces, with losses and a round trip to
# withhold ACKs for.
traffic() {
	ip netns add near
	ip netns add far
	ip link add dev0 netns near type veth peer name dev0 netns far
	for side in near:1 far:2; do
		ip -n "${side%:*}" addr add "10.9.0.${side#*:}/24" dev dev0
		ip -n "${side%:*}" link set dev0 up
		ip netns exec "${side%:*}" tc qdisc add dev dev0 root netem delay 3ms loss 0.1% rate 20mbit
	done
	ip netns exec near flowgen serve --port 7001 --out "$work/served" &
	generators=$!
	sleep 1
	for flow in one:up two:up three:down; do
		ip netns exec far flowgen run --id "$flow" --host 10.9.0.1 \
			--port 7001 --dir "${flow#*:}" --seconds 100000 --out "$work/flow-$flow" &
		generators="$generators $!"
	done
	sleep 1
}

no_traffic() {
	# shellcheck disable=SC2086 # a list of process ids
	kill $generators
	# shellcheck disable=SC2086
	wait $generators
	generators=
	ip netns del near
	ip netns del far
	sleep 5
}

# live CACHE: its objects in use
live() {
	echo 1 > "/sys/kernel/slab/$1/shrink"
	awk -v name="$1" '$1 == name { print $2 }' /proc/slabinfo
}

sockets() {
	echo $(($(live TCP) + $(live TCPv6)))
}

# Tables of sysctls, 320 bytes each, or what else is of their size; kB of memory.
memory() {
	echo 3 > /proc/sys/vm/drop_caches
	sleep 1
	echo "$(live kmalloc-512) $(awk '/^MemTotal/ { total = $2 }
		/^MemFree/ { print total - $2 }' /proc/meminfo)"
}

reload() {
	for _ in $(seq "$1"); do
		insert tcp_ackskip
		quietly rmmod tcp_ackskip
	done
}

# Nothing of what the module allocates, its 200 kB and a table of sysctls for each
# namespace, may be left: one lost each time would be as many as the times.
leaks() {
	times=${1:-100}
	ktap_plan 1
	ip netns add elsewhere
	reload 5
	memory > "$work/before"
	reload "$times"
	memory > "$work/after"
	paste "$work/before" "$work/after" > "$work/memory"
	echo "# tables, kB before and after: $(cat "$work/memory")"
	awk -v times="$times" '
		$3 - $1 >= times { print $3 - $1 " tables are left" }
		$4 - $2 >= 200 * times { print $4 - $2 " kB are left" }
	' "$work/memory" >> "$work/errors"
	result "leaves nothing when loaded $times times"
	ip netns del elsewhere
}

churn() {
	rounds=${1:-20}
	ktap_plan 6
	before_sockets=$(sockets)
	traffic
	watch_kernel
	round=0
	while [ "$round" -lt "$rounds" ]; do
		round=$((round + 1))
		insert tcp_ackskip
		for side in near far; do
			quietly ip netns exec "$side" sysctl -qw \
				net.ipv4.tcp_ack_skip=7 net.ipv4.tcp_ack_skip_after=0
		done
		ip netns add "round$round"
		sleep 1
		ip netns del "round$round"
		sleep 0.2
		quietly rmmod tcp_ackskip
	done
	result "$rounds times loaded and unloaded under traffic"
	for side in near far; do
		withheld=$(counter "$side" TcpExtTCPAckCompressed)
		echo "# $side: $withheld ACKs withheld"
		[ "$withheld" -gt 0 ] || echo "none at $side" >> "$work/errors"
	done
	result "ACKs were withheld"
	before=$(counter near TcpInSegs)
	sleep 3
	[ "$(counter near TcpInSegs)" -gt "$before" ] || echo "no more segments" >> "$work/errors"
	# shellcheck disable=SC2086 # a list of process ids
	kill -0 $generators 2>> "$work/errors"
	result "the connections go on"
	no_traffic
	[ "$(sockets)" -le "$before_sockets" ] || echo "$(sockets) sockets are left" >> "$work/errors"
	result "no socket is left of it"
	report_kernel
}

case $what in
short)	# a bit of each; refusals last, they lock the kernel down
	packet_tests tcp_ack_skip.py --turns one_ack_for_2_times_4 pushed_segments missing_segment sender_stops
	leaks 5
	churn 2
	refusals
	;;
leaks) leaks "$@" ;;
packets) packet_tests tcp_ack_skip.py "$@" ;;
edges) packet_tests tcp_ack_skip_edges.py "$@" ;;
refusals) refusals ;;
off) off "$@" ;;
churn) churn "$@" ;;
esac
ktap_end
