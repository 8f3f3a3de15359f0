#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# The plugins against the tc of this machine: each mistake costs one line that
# names the option, before anything is sent to the kernel. KTAP on stdout.
#
# Usage: check_plugins.sh PLUGIN_DIR

set -u
TC_LIB_DIR=$(realpath "$1")
export TC_LIB_DIR
# shellcheck source=selftests/lib/ktap.sh
. "$(dirname "$0")/../selftests/lib/ktap.sh"
answer=$(mktemp)
trap 'rm -f "$answer"' EXIT

# refused WORDS... -- EXPECTED: tc fails and says EXPECTED, in one line.
refused() {
	words=
	while [ "$1" != -- ]; do
		words="$words $1"
		shift
	done
	# shellcheck disable=SC2086 # the words are tc's arguments
	said=$(tc qdisc add dev lo root $words 2>&1)
	code=$?
	printf '%s\n' "exit code $code, said: $said" "expected: $2" > "$answer"
	[ "$code" -ne 0 ] && [ "$said" = "$2" ]
	ktap_result $? "-$words" "$answer"
}

ktap_begin 48
queue="1 to 1048576 packets"
below="1 to 65535 packets"
refused lasack limit -- "lasack: limit has no value: give $queue"
refused lasack limit 0 -- "lasack: limit cannot be \"0\": give $queue"
refused lasack limit 1048577 -- "lasack: limit cannot be \"1048577\": give $queue"
refused lasack limit -1 -- "lasack: limit cannot be \"-1\": give $queue"
refused lasack limit 10x -- "lasack: limit cannot be \"10x\": give $queue"
refused lasack limit 5 limit 6 -- "lasack: limit is given twice: give $queue"
refused lasack inflight 65536 -- \
	"lasack: inflight cannot be \"65536\": give $below, auto or off"
memory="65536 to 4294967295 bytes"
refused lasack memory_limit 63k -- \
	"lasack: memory_limit cannot be \"63k\": give $memory"
refused lasack memory_limit 4g -- \
	"lasack: memory_limit cannot be \"4g\": give $memory"
refused lasack memory_limit 1mbit -- \
	"lasack: memory_limit cannot be \"1mbit\": give $memory"
refused lasack memory_limit 1.1.1m -- \
	"lasack: memory_limit cannot be \"1.1.1m\": give $memory"
refused lasack flows 0 -- "lasack: flows cannot be \"0\": give 1 to 65535"
refused lasack flows 65536 -- "lasack: flows cannot be \"65536\": give 1 to 65535"
refused lasack flows 1.5 -- "lasack: flows cannot be \"1.5\": give 1 to 65535"
refused lasack flows 1k -- "lasack: flows cannot be \"1k\": give 1 to 65535"
times="100ms to 86400s in whole ms or off"
refused lasack idle 300 -- "lasack: idle cannot be \"300\": give $times"
refused lasack idle 99ms -- "lasack: idle cannot be \"99ms\": give $times"
refused lasack idle 86401s -- "lasack: idle cannot be \"86401s\": give $times"
refused lasack idle -5s -- "lasack: idle cannot be \"-5s\": give $times"
refused lasack idle nans -- "lasack: idle cannot be \"nans\": give $times"
refused lasack halflife 5min -- "lasack: halflife cannot be \"5min\": give $times"
refused lasack idle 300.5ms -- "lasack: idle cannot be \"300.5ms\": give $times"
refused lasack halflife 0s -- "lasack: halflife cannot be \"0s\": give $times"
refused lasack quantum 999 -- \
	"lasack: quantum cannot be \"999\": give 1000 to 16777216 bytes, auto or off"
refused lasack quantum automatic -- \
	"lasack: quantum cannot be \"automatic\": give 1000 to 16777216 bytes, auto or off"
refused lasack floor 101 -- "lasack: floor cannot be \"101\": give 1 to 100 percent or off"
refused lasack floor 2.5 -- "lasack: floor cannot be \"2.5\": give 1 to 100 percent or off"
refused lasack observe 1 -- "lasack: observe cannot be \"1\": give on or off"
refused lasack observe -- "lasack: observe has no value: give on or off"
refused lasack weights 2 1 -- "lasack: unknown option \"weights\": known are limit,\
 memory_limit, flows, idle, halflife, quantum, floor, observe, inflight, mode, fair, overhead, target, unit"
weights="1 to 255 or auto"
refused ackwrr weights -- "ackwrr: weights has no value: give $weights"
refused ackwrr weights 2 -- "ackwrr: weights has but one value: give $weights"
refused ackwrr weights 2 256 -- "ackwrr: weights cannot be \"256\": give $weights"
refused ackwrr weights 1 0 -- "ackwrr: weights cannot be \"0\": give $weights"
refused ackwrr weights 256 1 -- "ackwrr: weights cannot be \"256\": give $weights"
refused ackwrr weights -1 1 -- "ackwrr: weights cannot be \"-1\": give $weights"
refused ackwrr weights x 1 -- "ackwrr: weights cannot be \"x\": give $weights"
refused ackwrr weights auto 1 -- \
	"ackwrr: unknown option \"1\": known are weights, limit, inflight"
refused ackwrr weights 0 1 -- "ackwrr: weights cannot be \"0\": give $weights"
refused ackwrr weights 2 1 weights 2 1 -- \
	"ackwrr: weights is given twice: give $weights"
refused ackwrr limit 0 -- "ackwrr: limit cannot be \"0\": give $queue"
refused inflight limit -- "inflight: limit has no value: give $below or auto"
refused inflight limit off -- \
	"inflight: limit cannot be \"off\": give $below or auto"
refused inflight limit 99999999999999999999 -- \
	"inflight: limit cannot be \"99999999999999999999\": give $below or auto"
refused inflight quantum 1 -- \
	"inflight: unknown option \"quantum\": known are limit, stall"
refused inflight stall -- "inflight: stall has no value: give 10ms to 60s in whole ms"
refused inflight stall 9ms -- "inflight: stall cannot be \"9ms\": give 10ms to 60s in whole ms"
refused inflight stall 61s -- "inflight: stall cannot be \"61s\": give 10ms to 60s in whole ms"
refused inflight stall 1s stall 1s -- "inflight: stall is given twice: give 10ms to 60s in whole ms"
ktap_end
