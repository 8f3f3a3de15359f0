#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The lines of the README's operator section (/mnt/lines), typed by an ordinary user in a checkout
# (/mnt/checkout.tar) on an access point, then what the section says removes it all.
set -eu
# shellcheck source=tests/system/guest/cell.sh
. /mnt/cell.sh

su - user -c 'mkdir lasack && tar -xf /mnt/checkout.tar -C lasack'
cell
load default
while IFS= read -r line <&3; do
	case $line in
	*'apt install '*)
		typed "$line" $'Y\n'
		# What the user has asked apt for stays.
		state before
		;;
	lasack-top*)
		downloads 20
		typed "$line" q > "$out/lasack-top"
		sleep 20
		;;
	*) typed "$line" '' ;;
	esac
done 3< $share/lines
load lasack
typed 'sudo make uninstall' ''
state after
