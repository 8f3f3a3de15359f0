#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The module tcp_ackskip, built for the distribution's own kernel and put
# through ackskip_guest.sh in an emulated machine (KTAP). Run from the top of
# the tree; without `apbed distro fetch` before, it is skipped.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
apbed=.venv/bin/apbed

if ! tree=$($apbed distro tree 2>&1); then
	echo "1..0 # SKIP ${tree#apbed: }"
	exit 0
fi
make -C kernel KDIR="$tree" ARCH=x86_64 TESTS=y KCFLAGS=-Werror || exit 1

# Each rule both with GRO and without, over IPv4 and IPv6; of the ratios some.
rules="bursts_read_late pushed_segments first_segments ramp missing_segment duplicate_segment
end_of_stream congestion_mark window_update sender_stops socket_option sysctl_ranges"
ratios="one_ack_for_1_times_1 one_ack_for_2_times_1 one_ack_for_2_times_2 one_ack_for_2_times_8
one_ack_for_3_times_1 one_ack_for_4_times_4"

status=0
# shellcheck disable=SC2086 # lists of words
for command in "packets $rules $ratios" refusals churn; do
	cpus=1
	[ "$command" != churn ] || cpus=2
	$apbed distro boot --cpus $cpus --limit 1200 -- \
		sh selftests/ackskip_guest.sh $command || status=1
done
exit $status
