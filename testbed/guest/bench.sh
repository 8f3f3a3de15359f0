#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Measures queue disciplines as a plan says, with kernel/bench. Run as
# root in a lab kernel or a stock one:
#
#	bench.sh MODULES PLAN
#
# MODULES is the directory our modules were built in. Each line of PLAN is one of
#
#	devices COUNT			make bench0, bench1, ...
#	qdisc NUMBER WORDS...		a new root discipline for one of them
#	set NAME=VALUE...		parameters of qdisc_bench
#	measure CELL			print "cell CELL" and what the module measured
#	memory LABEL WORDS...		the memory a discipline holds once all is known:
#					print "memory LABEL BYTES"
#
# `memory` uses a device of its own. A discipline with `unit airtime` has a Wi-Fi device, of the
# lab's radio driver, whose stations nobody knows.

set -eu
modules=$1
plan=$2
parameters=/sys/module/qdisc_bench/parameters
debugfs=/sys/kernel/debug
radio=$modules/../../radio/${modules##*/}/lab_radio.ko
TC_LIB_DIR=$(realpath "$(dirname "$0")/../../build/tc")
export TC_LIB_DIR

make_device() {
	name=$1
	shift
	case " $* " in
	*" unit airtime "*)
		[ -d /sys/module/lab_radio ] || insmod "$radio" radios=4
		for phy in /sys/class/net/wlan*/phy80211; do
			ip link set "$(basename "${phy%/phy80211}")" name "$name"
			break
		done
		;;
	*)
		ip link add "$name" type dummy
		;;
	esac
	# Nothing but the module's packets: no neighbour discovery either.
	ip link set "$name" addrgenmode none txqueuelen 20000 up
}

add_qdisc() {
	device=$1
	shift
	tc qdisc replace dev "$device" root "$@" && return
	echo "bench.sh: tc refuses: $*"
	exit 1
}

# Pages that each processor keeps for itself are free, too; MemFree does not count them.
free_memory() {
	sync
	awk -v page="$(getconf PAGESIZE)" '
		$1 == "MemFree:" { free += $2 * 1024 }
		$1 == "count:" { free += $2 * page }
		END { print free }
	' /proc/meminfo /proc/zoneinfo
}

hold_memory() {
	label=$1
	shift
	make_device benchm "$@"
	# What a Wi-Fi device has at first is freed now, and not while memory is counted.
	add_qdisc benchm pfifo limit 1
	before=$(free_memory)
	add_qdisc benchm "$@"
	echo benchm > "$parameters/devices"
	cat "$debugfs/qdisc_bench" > /dev/null
	echo "memory $label $((before - $(free_memory)))"
	# A radio's device stays, for the next.
	if ! ip link del benchm 2> /dev/null; then
		ip link set benchm down
		ip link set benchm name "wlan9$label"
	fi
}

grep -q " $debugfs debugfs " /proc/mounts || mount -t debugfs none "$debugfs"
# A distribution's kernel has them apart; one built for the lab has them in it.
modprobe -qa dummy sch_sfq sch_fq sch_cake || :
for module in inflight sch_inflight sch_lasack sch_ackwrr bench/qdisc_bench; do
	insmod "$modules/$module.ko"
done

while read -r verb rest; do
	# shellcheck disable=SC2086 # a plan's words
	set -- $rest
	case $verb in
	devices)
		names=
		for number in $(seq 0 $(($1 - 1))); do
			make_device "bench$number"
			names=$names,bench$number
		done
		;;
	qdisc)
		device=bench$1
		shift
		case " $* " in
		*" unit airtime "*)
			if [ ! -d "/sys/class/net/$device/phy80211" ]; then
				ip link del "$device"
				make_device "$device" "$@"
			fi
			;;
		esac
		tc qdisc del dev "$device" root 2> /dev/null || :
		add_qdisc "$device" "$@"
		;;
	set)
		for setting in "$@"; do
			echo "${setting#*=}" > "$parameters/${setting%%=*}"
		done
		;;
	measure)
		echo "cell $1"
		echo "$names" > "$parameters/devices"
		cat "$debugfs/qdisc_bench"
		;;
	memory)
		hold_memory "$@"
		;;
	*)
		echo "bench.sh: no such order: $verb" >&2
		exit 2
		;;
	esac
done < "$plan"
echo "done $(uname -r)"
