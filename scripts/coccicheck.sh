#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The kernel's semantic patches find nothing in kernel/ (KTAP). Run from the top of the tree.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
# shellcheck source=selftests/lib/ktap.sh
. selftests/lib/ktap.sh

command -v spatch > /dev/null || ktap_skip_all "no coccinelle"
command -v ocamlopt > /dev/null || ktap_skip_all "no OCaml compiler (ocaml-nox)"
tree=$(.venv/bin/apbed kernel tree) || exit 1
log=$(mktemp) && found=$(mktemp) || exit 1
trap 'rm -f "$log" "$found"' EXIT

ktap_begin 2
make -C kernel KDIR="$tree" ARCH=um coccicheck > "$log" 2>&1
status=$?
# It ends with 0 too when a patch could not be applied.
! grep -q 'coccicheck failed' "$log" || status=1
[ "$(grep -c "spatch -D" "$log")" -gt 10 ] || status=1
ktap_result "$status" "the semantic patches ran" "$log"
grep -E ':[0-9]+:[0-9]+-[0-9]+:' "$log" > "$found"
ktap_result "$([ -s "$found" ]; echo $((1 - $?)))" "they found nothing" "$found"
ktap_end
