#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# A clean system: what it does, then with the packages. The unit is left enabled.
set -eu
# shellcheck source=tests/system/guest/cell.sh
. /mnt/cell.sh

cell
load default
dependencies
state before
add
tc qdisc show dev wlan0 root > "$out/untouched"
tc qdisc replace dev wlan0 root lasack
load lasack
systemctl enable --now lasack@wlan0
systemctl is-active lasack@wlan0 > "$out/unit"
