#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# A newer kernel with its headers, from the second repository on the disk.
set -eu
# shellcheck source=tests/system/guest/cell.sh
. /mnt/cell.sh

echo 'deb [trusted=yes] file:/srv/update ./' >> /etc/apt/sources.list
apt-get update -q
mapfile -t names < <(sed -nE 's/^Package: (linux-(image|headers)-.*-amd64)$/\1/p' /srv/update/Packages)
apt-get install -q -y "${names[@]}"
! command -v dkms > /dev/null || dkms status > "$out/dkms"
