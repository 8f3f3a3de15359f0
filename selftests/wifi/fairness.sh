#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# fairness.py with this kernel's own mac80211_hwsim, and the modules loaded around it (KTAP).
#
# Run as root in a kernel under test:
#	fairness.sh [SETUP]...

exec sh "$(dirname "$0")/../lib/watched.sh" "wifi/fairness.py mac80211_hwsim $*"
