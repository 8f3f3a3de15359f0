#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The packages and one command on a clean system. The unit is left enabled.
set -eu
# shellcheck source=tests/system/guest/cell.sh
. /mnt/cell.sh

add
tc qdisc show dev wlan0 root > "$out/untouched"
tc qdisc replace dev wlan0 root lasack
tc qdisc show dev wlan0 root > "$out/attached"
systemctl enable --now lasack@wlan0
systemctl is-active lasack@wlan0 > "$out/unit"
