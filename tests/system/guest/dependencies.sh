#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# What the packages depend on, without them.
set -eu
# shellcheck source=tests/system/guest/cell.sh
. /mnt/cell.sh

dependencies
