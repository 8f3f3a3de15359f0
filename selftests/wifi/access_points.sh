#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# access_points.py with this kernel's own mac80211_hwsim, and the modules loaded around it (KTAP).
#
# Run as root in a kernel under test:
#	access_points.sh [SETUP]...

exec sh "$(dirname "$0")/../lib/watched.sh" "wifi/access_points.py mac80211_hwsim $*"
