#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# After a reboot: what the unit has put back, what hostapd's drop-in does, and what a purge in
# mid-traffic leaves.
set -eu
# shellcheck source=tests/system/guest/cell.sh
. /mnt/cell.sh

# The unit may still be at it.
for _ in {1..60}; do
	! systemctl is-active --quiet lasack@wlan0 || break
	sleep 1
done
{
	systemctl is-active lasack@wlan0 || true
	tc qdisc show dev wlan0 root
} > "$out/unit"
tc qdisc del dev wlan0 root || true
cell
tc qdisc show dev wlan0 root > "$out/hostapd"
load lasack
offload lasack-doctor wlan0 > "$out/doctor-offload" 2>&1
lsmod | grep -E '^(sch_lasack|inflight) ' > "$out/loaded"
downloads 20
sleep 3
said "apt purge"
apt-get purge -q -y lasack-dkms lasack-tools
state after
