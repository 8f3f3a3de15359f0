#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# What a packet costs in allocations: none in steady state, says the kernel's
# tracer (KTAP).
#
# Principle: qdisc_bench drives enqueue, dequeue and the packet's destructor of a
# discipline that has seen every flow before. Meanwhile each allocation is traced
# with its stack (Documentation/trace/events-kmem.rst); those with a function of
# our modules in the stack are ours. That the same trace shows what making the
# discipline allocates proves that it would show the others.
#
# Run as root on a kernel with tracing; allocations.sh boots one.

# What is measured: parameters of qdisc_bench, then words for tc.
cases() {
	cat <<- END
		flows=100 lasack limit 10000 inflight off
		flows=100,hashed=1 lasack limit 10000 inflight off
		flows=10000 lasack limit 20000 flows 16384 inflight off
		flows=100 lasack limit 10000 fair station inflight 64
		flows=100,below=1 lasack limit 10000 inflight auto
		flows=100,gso=1 lasack limit 200000 inflight off
		flows=100,overload=2 lasack limit 1000 inflight 64
		flows=2000,fresh=10 lasack limit 10000 flows 1024 inflight 64
		flows=100 ackwrr limit 10000 inflight off
		flows=100 ackwrr limit 10000 weights auto inflight 64
		flows=100 inflight limit 64
		flows=10000,below=1 inflight limit auto
	END
}

# shellcheck disable=SC2317 # called when the script ends
cleanup() {
	ip link del traced 2> "$work/link"
}

plan=
# shellcheck source=selftests/lib/lab.sh
. "$(dirname "$0")/../lib/lab.sh"
need_module bench/qdisc_bench
tracing=/sys/kernel/tracing
parameters=/sys/module/qdisc_bench/parameters
bench=/sys/kernel/debug/qdisc_bench

begin_trace() {
	echo 0 > "$tracing/tracing_on"
	: > "$tracing/trace"
	echo 1 > "$tracing/tracing_on"
}

# end_trace FILE: what was allocated, an event with its stack each.
end_trace() {
	echo 0 > "$tracing/tracing_on"
	cat "$tracing/trace" > "$1"
	grep -h '^overrun: [1-9]' "$tracing"/per_cpu/cpu*/stats >> "$work/errors"
}

# ours FILE [AVOID]: the stacks with a function of our modules, one a line, and how often.
ours() {
	awk '
		function count() {
			if (stack ~ /\[(inflight|sch_inflight|sch_lasack|sch_ackwrr)\]/)
				times[stack]++
			stack = ""
		}
		/^ => / { stack = stack " " $2 $3; next }
		/ kmalloc| kmem_cache_alloc| mm_page_alloc/ { count() }
		END {
			count()
			for (one in times)
				print times[one] " times:" one
		}
	' "$1"
}

set_parameters() {
	for setting in flows=100 hashed=0 gso=0 overload=0 fresh=0 below=16 depth=1000 rounds=2 \
		$(echo "$settings" | tr ',' ' '); do
		echo "${setting#*=}" > "$parameters/${setting%%=*}"
	done
}

# measure SETTINGS WORDS...: a bound at the end that is automatic is first a wide one, so that
# as many packets as the benchmark keeps below have been there at once.
measure() {
	settings=$1
	shift
	ip link add traced type dummy
	ip link set traced addrgenmode none txqueuelen 20000 up
	begin_trace
	# shellcheck disable=SC2046 # words
	quietly tc qdisc add dev traced root $(echo "$*" | sed 's/ auto$/ 64/')
	end_trace "$work/making"
	[ -n "$(ours "$work/making")" ] || echo "the tracer does not show what making it allocates" >> "$work/errors"
	set_parameters
	cat "$bench" > "$work/warm"
	quietly tc qdisc change dev traced root "$@"
	cat "$bench" > "$work/warm" # an automatic bound finds its level
	begin_trace
	cat "$bench" > "$work/measured"
	end_trace "$work/steady"
	ours "$work/steady" >> "$work/errors"
	served=$(awk '{ for (i = 1; i < NF; i++) if ($i == "served") sum += $(i + 1) } END { print sum + 0 }' "$work/measured")
	[ "$served" -ge 2000 ] || echo "only $served packets served" >> "$work/errors"
	ip link del traced
	report "$settings: $*: $served packets, no allocation" "$work/errors"
}

grep -q ' /sys/kernel/debug debugfs ' /proc/mounts || mount -t debugfs none /sys/kernel/debug
load
insert bench/qdisc_bench
echo traced > "$parameters/devices"
echo 20000 > "$tracing/buffer_size_kb"
for option in stacktrace sym-offset; do
	echo 1 > "$tracing/options/$option"
done
for event in kmalloc kmem_cache_alloc mm_page_alloc; do
	echo 1 > "$tracing/events/kmem/$event/enable"
done
report "the tracer is on" "$work/errors"
cases > "$work/cases"
while read -r settings words; do
	# shellcheck disable=SC2086 # words for tc
	measure "$settings" $words
done < "$work/cases"
ktap_end
