#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# The cases of selftests/tc-testing, run by the kernel's own tdc.py (KTAP).
#
# Run as root in a kernel under test:
#	tdc.sh [TC_TESTING [KIND]...]
# TC_TESTING is where tdc.py is, in a checkout tc-testing in what `apbed kernel
# selftests` prints; without it, the tc-testing of the kernel tree that this is in. Without
# KIND, all of them.

tdc=${1:-$(dirname "$0")/../../tc-testing}
[ $# -eq 0 ] || shift
# shellcheck disable=SC2034 # tdc.py says itself how many there are
plan=
# shellcheck source=selftests/lib/lab.sh
. "$(dirname "$0")/../lib/lab.sh"
[ -e "$tdc/tdc.py" ] || lacking tdc.py

load
cp -r "$tdc" "$work/tdc"
# Commands run in an empty environment, unless this file says otherwise.
cat > "$work/tdc/tdc_config_local.py" <<-END
	import os
	ENVIR = os.environ.copy()
END
[ $# -gt 0 ] || set -- "$selftests"/tc-testing/*.json
for kind in "$@"; do
	file=$selftests/tc-testing/$(basename "$kind" .json).json
	echo "# $file"
	(cd "$work/tdc" && /usr/bin/python3 tdc.py -f "$file") > "$work/said" 2>&1 || ktap_failed=1
	grep -E '^(1\.\.|ok|not ok)' "$work/said" || ktap_failed=1
	grep -A 30 '^not ok' "$work/said" | sed 's/^/# /'
	grep -q '^not ok\|# skipped' "$work/said" && ktap_failed=1
done
exit "$ktap_failed"
