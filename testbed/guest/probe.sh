#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# What a node is, for `apbed grid check`. Changes nothing.
#
#   probe.sh DIRECTORY WLAN WIRED PROGRAM...     "" for a device that it has not
#
# Prints lines "KEY VALUE".

directory=$1
wlan=$2
wired=$3
shift 3
PATH=$PATH:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
LC_ALL=C
export PATH LC_ALL

echo "user $(id -u)"
echo "kernel $(uname -r)"
echo "clock $(date +%s)"
parent=${directory%/*}
echo "free_kb $(df -Pk "$parent" 2> /dev/null | awk 'NR == 2 { print $4 }')"
if [ -e "$directory" ]; then
	# The process that would put the node back, and when it was started.
	read -r pid ticks 2> /dev/null < "$directory/watch"
	now=$(sed 's/.*) //' "/proc/${pid:-none}/stat" 2> /dev/null | cut -d' ' -f20)
	if [ -n "${ticks-}" ] && [ "$now" != "$ticks" ]; then
		echo "stale $directory"
	else
		echo "busy $directory"
	fi
fi
for program in "$@"; do
	command -v "$program" > /dev/null || echo "no_program $program"
done
[ "$(cat /proc/sys/kernel/modules_disabled 2> /dev/null)" != 1 ] || echo "locked modules_disabled"
grep -qE '\[(integrity|confidentiality)\]' /sys/kernel/security/lockdown 2> /dev/null &&
	echo "locked lockdown"
awk '/^(inflight|sch_inflight|sch_lasack|sch_ackwrr) / { print "loaded", $1 }' /proc/modules

for device in $wlan $wired; do
	if [ ! -e "/sys/class/net/$device" ]; then
		echo "no_device $device"
		continue
	fi
	ip -o address show dev "$device" scope global |
		awk -v device="$device" '{ print "address", device, $4 }'
	tc qdisc show dev "$device" 2> /dev/null |
		awk -v device="$device" '$4 == "root" && $3 != "0:" { print "qdisc", device, $2 }'
done
# Which of its addresses lie where the grid's own will.
ip -4 -o address show | awk '$4 ~ /^10\.[01]\.0\./ { print "overlap", $2, $4 }'

[ -n "$wlan" ] && [ -e "/sys/class/net/$wlan" ] || exit 0
phy=$(cat "/sys/class/net/$wlan/phy80211/name" 2> /dev/null)
if [ -z "$phy" ]; then
	echo "no_wifi $wlan"
	exit 0
fi
echo "phy $phy"
link=$(readlink "/sys/class/net/$wlan/device/driver")
echo "driver ${link##*/}"
iw dev "$wlan" link 2> /dev/null | grep -q '^Connected' && echo "associated $wlan"
iw dev "$wlan" info | grep -q 'type AP' && echo "associated $wlan"
echo "country $(iw reg get | awk '$1 == "country" { print substr($2, 1, 2); exit }')"
# Channels that are barred here may be free elsewhere; on passive ones nobody may begin.
iw phy "$phy" info | awk '
	/Supported interface modes/ { modes = 1; next }
	modes && $1 == "*" { print "mode", $2; next }
	{ modes = 0 }
	$3 == "MHz" && match($4, /^\[[0-9]+\]$/) {
		channel = substr($4, 2, RLENGTH - 2)
		print /disabled/ ? "barred" : /no IR/ ? "passive" : "channel", channel
	}'
