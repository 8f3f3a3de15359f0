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
[ "$(uname -m)" = x86_64 ] || ktap_skip_all "it boots an x86-64 kernel"
command -v apt-cache > /dev/null || ktap_skip_all "no apt, no distribution's kernel"
[ -n "$(apt-cache search --names-only '^linux-image-amd64$')" ] || ktap_skip_all "no package linux-image-amd64"
$apbed distro fetch && tree=$($apbed distro tree) || exit 1
make -C kernel KDIR="$tree" ARCH=x86_64 KCFLAGS=-Werror || exit 1
exec $apbed distro boot --cpus 1 --limit 1200 -- sh selftests/qdisc/allocations_guest.sh
