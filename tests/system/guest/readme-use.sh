#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The last lines of the README's operator section (/mnt/lines-use), at an access point that has
# traffic, and what the section says removes it all.
set -eu
# shellcheck source=tests/system/guest/cell.sh
. /mnt/cell.sh

cell
load default
state before
downloads 40
while IFS= read -r line <&3; do
	typed "$line" q > "$out/${line##* }"
done 3< $share/lines-use
sleep 30
load lasack
typed 'sudo make uninstall' ''
state after
