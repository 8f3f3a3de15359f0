#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Run programs of selftests/ in turn with the modules loaded, and look
# whether the kernel complained (KTAP; a program's own results are one level
# below its line).
#
# Run as root inside a lab kernel, best the debug one:
#	watched.sh 'PROGRAM [ARG]...'...

plan=$(($# + 3))
# shellcheck source=selftests/lib/lab.sh
. "$(dirname "$0")/lab.sh"

watch_kernel
load
for words in "$@"; do
	# shellcheck disable=SC2086 # a program and its arguments
	/usr/bin/python3 "$selftests"/$words
	status=$?
	if [ $status -eq $KSFT_SKIP ]; then
		ktap_skip "$words" "all its tests were skipped"
		continue
	fi
	[ $status -eq 0 ] || echo "exit status $status" >> "$work/errors"
	report "$words" "$work/errors"
done
report_unload
report_kernel
ktap_end
