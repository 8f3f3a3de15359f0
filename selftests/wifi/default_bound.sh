#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# default_bound.py with this kernel's own mac80211_hwsim, and the modules loaded around it (KTAP).
#
# Run as root in a kernel under test:
#	default_bound.sh [SETUP]...

exec sh "$(dirname "$0")/../lib/watched.sh" "wifi/default_bound.py mac80211_hwsim $*"
