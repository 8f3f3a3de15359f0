#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# A clean system: what it does, then with the packages. The unit is left enabled.
set -eu
# shellcheck source=tests/system/guest/cell.sh
. /mnt/cell.sh

cell
load default
state before
cp /mnt/lasack*.deb /root
cd /root
said "apt install"
apt-get install -q -y ./lasack*.deb
rm ./lasack*.deb
dkms status > "$out/dkms"
tc qdisc show dev wlan0 root > "$out/untouched"
tc qdisc replace dev wlan0 root lasack
load lasack
# As on a router whose hardware forwards packets.
nft add table inet filter
nft add flowtable inet filter fast '{ hook ingress priority 0; flags offload; }'
lasack-doctor wlan0 > "$out/doctor-offload" 2>&1 || true
nft delete table inet filter
systemctl enable --now lasack@wlan0
systemctl is-active lasack@wlan0 > "$out/unit"
