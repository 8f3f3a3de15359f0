#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# With tcp_ack_skip = 0 the ACKs of a patched kernel are those of a stock one:
# the same numbers, SACK blocks and windows at the same virtual nanoseconds,
# for the stream of ack_trace.py. That the stream could tell is seen by a third
# run, with tcp_ack_skip = 1, without the rules of tcp_ack_skip_after: by those
# nothing is skipped where no packet ever queues (KTAP).
#
# Usage: ack_trace.sh VERSION [SEGMENTS]	on the host, from the top of the tree

version=$1
segments=${2:-100000}
apbed=${APBED:-.venv/bin/apbed}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
sysctl=/proc/sys/net/ipv4/tcp_ack_skip
failed=0

# trace NAME COMMAND [BOOT OPTION]...: ack_trace.py's file in $work/NAME/acks
trace() {
	name=$1
	prepare=$2
	shift 2
	mkdir "$work/$name"
	"$apbed" boot --kernel "$version" --seed 1 --limit 1400 \
		--out "$work/$name" "$@" -- sh -c "$prepare
		exec /usr/bin/python3 selftests/tcp/ack_trace.py $work/$name/acks $segments" \
		2> "$work/$name/messages" > "$work/$name/output" ||
		sed 's/^/# /' "$work/$name/messages" "$work/$name/output"
	echo "# $name: $(cat "$work/$name/output"), $(grep -vc '^#' "$work/$name/acks") answers"
}

# report NUMBER NAME: by the last status
report() {
	if [ $? -eq 0 ]; then
		echo "ok $1 $2"
	else
		echo "not ok $1 $2"
		failed=1
	fi
}

echo TAP version 13
echo 1..3
trace stock true --stock
trace patched true
trace skipping "echo 1 > $sysctl; echo 0 > ${sysctl}_after"
sent=$(sed -n 's/ segments sent$//p' "$work/stock/output")
[ "${sent:-0}" -ge "$segments" ]
report 1 "$segments segments"
[ -s "$work/stock/acks" ] && cmp "$work/stock/acks" "$work/patched/acks" >&2
report 2 "tcp_ack_skip = 0 answers as stock does"
diff "$work/stock/acks" "$work/patched/acks" | head -n 4 | sed 's/^/# /'
[ -s "$work/skipping/acks" ] && ! cmp -s "$work/stock/acks" "$work/skipping/acks"
report 3 "tcp_ack_skip = 1 does not"
exit $failed
