#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# A system without lasack: what it does under load, and its state.
set -eu
# shellcheck source=tests/system/guest/cell.sh
. /mnt/cell.sh

cell
load default
state before
