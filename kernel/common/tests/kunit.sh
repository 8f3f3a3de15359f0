#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Load the KUnit suites into the running kernel and print what they say (KTAP).
# Run as root inside a lab kernel. Usage:
#	kunit.sh MODULE_DIR [SUITE [PARAMETER=VALUE]...]
# The parameters are those of test_parameters.c.
#
# The results are read from the kernel log: KUnit's debugfs file cuts the log
# of a suite that fails at 2 kB on Linux 6.1.

set -u
failed=0
sources=$(dirname "$0")/../..
dir=${1%/}
only=${2:-*}
[ $# -lt 2 ] || shift
shift

if ! grep -q ' kunit_run_tests' /proc/kallsyms; then
	echo "Bail out! this kernel has no KUnit"
	exit 1
fi

echo "KTAP version 1"
insmod "$dir/common/tests/test_parameters.ko" "$@"
loaded=test_parameters
for module in $(find "$dir" -path '*/tests/*' -name "${only}_test.ko" | sort); do
	suite=$(basename "$module" .ko)
	source=${module#"$dir"/}
	[ -e "$sources/${source%.ko}.c" ] || continue # built before it was removed
	mark="kunit.sh: $suite $$"
	echo "$mark" > /dev/kmsg
	if ! insmod "$module"; then
		echo "not ok 1 $suite: does not load"
		failed=1
		continue
	fi
	said=$(dmesg -t | sed "1,/^$mark\$/d; s/^KTAP version 1\$/# &/")
	echo "$said"
	echo "$said" | grep -q '^ok [0-9]' || failed=1
	loaded="$suite $loaded"
done
if [ "$loaded" = test_parameters ]; then
	echo "not ok 1 no suite is called $only"
	failed=1
fi
# Not before: on ARCH=um KASAN keeps the red zones of an unloaded module's data
# and sees the next module's image written over them.
for suite in $loaded; do
	rmmod "$suite"
done
exit $failed
