#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Load the KUnit suites into the running kernel and print what they say (KTAP).
# Run as root inside a lab kernel. Usage: kunit.sh MODULE_DIR

set -u
modules=$1/tests
results=/sys/kernel/debug/kunit
failed=0

if ! [ -d "$results" ]; then
	echo "1..0 # SKIP no $results: the kernel needs KUNIT_DEBUGFS, and debugfs mounted"
	exit 0
fi

echo "KTAP version 1"
for module in "$modules"/*_test.ko; do
	suite=$(basename "$module" _test.ko)
	if ! insmod "$module"; then
		echo "not ok 1 $suite: does not load"
		failed=1
		continue
	fi
	# Every suite is number 1 of its own module.
	sed 's/^KTAP version 1$/# &/' "$results/$suite/results"
	grep -q '^ok 1 ' "$results/$suite/results" || failed=1
	rmmod "${suite}_test"
done
exit $failed
