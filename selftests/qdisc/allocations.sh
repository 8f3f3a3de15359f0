#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# allocations_guest.sh on the distribution's own kernel, which has a tracer, in
# an emulated machine (KTAP). Run from the top of the tree; the first time
# kernel and QEMU are downloaded into the cache (100 MB). Skipped where there is
# no such kernel to be had.
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 1
apbed=.venv/bin/apbed

# shellcheck source=selftests/lib/ktap.sh
. selftests/lib/ktap.sh
# shellcheck source=selftests/lib/distro_kernel.sh
. selftests/lib/distro_kernel.sh
distro_modules
exec $apbed distro boot --cpus 1 --limit 1200 -- sh selftests/qdisc/allocations_guest.sh
