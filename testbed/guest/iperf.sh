#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Throughput of iperf3 through a veth device with each of several queue
# disciplines, one after the other, several times. Run as root in the
# distribution's kernel, with several processors:
#
#	iperf.sh MODULES KINDS ROUNDS SECONDS
#
# MODULES is the directory our modules were built in; KINDS is a file, each line the
# words for tc. Prints "iperf GSO NUMBER KBITS_PER_SECOND" with GSO on or off, the
# number of the line and what the receiver got.

set -eu
modules=$1
kinds=$2
rounds=$3
seconds=$4
TC_LIB_DIR=$(realpath "$(dirname "$0")/../../build/tc")
export TC_LIB_DIR

modprobe -a veth sch_cake
for module in inflight sch_inflight sch_lasack sch_ackwrr; do
	insmod "$modules/$module.ko"
done

ip netns add near
ip netns add far
ip link add dev0 netns near type veth peer name dev0 netns far
ip -n near addr add 10.9.0.1/24 dev dev0
ip -n far addr add 10.9.0.2/24 dev dev0
for space in near far; do
	ip -n "$space" link set lo up
	ip -n "$space" link set dev0 up
done
ip netns exec far iperf3 --server --daemon > /dev/null
sleep 1

throughput() {
	ip netns exec near iperf3 --client 10.9.0.2 --parallel 4 --omit 1 \
		--time "$seconds" --format k |
		awk '$1 == "[SUM]" && $NF == "receiver" { print $(NF - 2) }'
}

for _ in $(seq "$rounds"); do
	for gso in on off; do
		ip netns exec near ethtool -K dev0 tso $gso gso $gso
		number=0
		while read -r words; do
			# shellcheck disable=SC2086 # words for tc
			ip netns exec near tc qdisc replace dev dev0 root $words
			echo "iperf $gso $number $(throughput < /dev/null)"
			ip netns exec near tc qdisc del dev dev0 root
			number=$((number + 1))
		done < "$kinds"
	done
done
echo "done $(uname -r)"
