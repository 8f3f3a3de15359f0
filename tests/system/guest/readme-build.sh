#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The first lines of the README's operator section (/mnt/lines-build): an ordinary user gets what
# they need, builds the checkout (/mnt/checkout.tar), and installs it.
set -eu
# shellcheck source=tests/system/guest/cell.sh
. /mnt/cell.sh

su - user -c 'mkdir lasack && tar -xf /mnt/checkout.tar -C lasack'
# As users set it who have more than one processor.
echo "export MAKEFLAGS=-j$(nproc)" >> /home/user/.profile
while IFS= read -r line <&3; do
	typed "$line" $'Y\n'
	# What the user has asked apt for stays.
	case $line in *'apt install '*) state before ;; esac
done 3< $share/lines-build
