#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# The cases of selftests/tc-testing, run by the kernel's own tdc.py (KTAP).
#
# Run as root inside a lab kernel:
#	tdc.sh TC_TESTING [KIND]...
# TC_TESTING is what `apbed kernel tdc` prints. Without KIND, all of them.

tdc=$1
shift
# shellcheck disable=SC2034 # tdc.py says itself how many there are
plan=
# shellcheck source=selftests/lib/lab.sh
. "$(dirname "$0")/../lib/lab.sh"
need "$tdc/tdc.py"

: > "$work/errors"
load
cp -r "$tdc" "$work/tdc"
# Commands run in an empty environment, unless this file says otherwise.
cat > "$work/tdc/tdc_config_local.py" <<-END
	import os
	ENVIR = os.environ.copy()
END
[ $# -gt 0 ] || set -- "$root"/selftests/tc-testing/*.json
for kind in "$@"; do
	file=$root/selftests/tc-testing/$(basename "$kind" .json).json
	echo "# $file"
	(cd "$work/tdc" && /usr/bin/python3 tdc.py -f "$file") > "$work/said" 2>&1 || failed=1
	grep -E '^(1\.\.|ok|not ok)' "$work/said" || failed=1
	grep -A 30 '^not ok' "$work/said" | sed 's/^/# /'
	grep -q '^not ok\|# skipped' "$work/said" && failed=1
done
exit $failed
