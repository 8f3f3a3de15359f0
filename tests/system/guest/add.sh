#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The packages, and the unit for the next boot.
set -eu
# shellcheck source=tests/system/guest/cell.sh
. /mnt/cell.sh

add
systemctl enable lasack@wlan0
