#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The module tcp_ackskip, built for the distribution's own kernel and put
# through ackskip_guest.sh in an emulated machine (KTAP). Run from the top of
# the tree; the first time kernel and QEMU are downloaded into the cache
# (100 MB). Skipped where there is no such kernel to be had.
#
# Usage: ackskip_module.sh [short]
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 1
apbed=.venv/bin/apbed

# shellcheck source=selftests/lib/ktap.sh
. selftests/lib/ktap.sh
# shellcheck source=selftests/lib/distro_kernel.sh
. selftests/lib/distro_kernel.sh
TESTS=y distro_modules

guest() {
	$apbed distro boot --cpus "$1" --limit 1200 -- sh selftests/tcp/ackskip_guest.sh "${@:2}" || status=1
}

status=0
if [ "${1:-}" = short ]; then
	guest 1 short
else
	guest 1 packets
	guest 1 edges --turns
	guest 1 refusals
	guest 1 off
	guest 1 leaks 40
	guest 2 churn 20
fi
exit $status
