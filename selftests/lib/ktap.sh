# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh
#
# The results of a shell test, as KTAP (Documentation/dev-tools/ktap.rst). To be sourced;
# bash and dash:
#
#	ktap_begin [PLAN]		the first line; without PLAN, ktap_end prints it
#	ktap_start			the plan, if it was given; the first result does that too
#	ktap_result STATUS NAME [FILE]	good if STATUS is 0; FILE says what is wrong
#	ktap_skip NAME REASON		what this machine cannot do
#	ktap_skip_all REASON		the same of the whole test; exits
#	ktap_missing ARTEFACT		what should have been built; exits, failed
#	ktap_end			exits with the status: 1 if a test failed, 4 if all were skipped

KSFT_SKIP=4 # Documentation/dev-tools/kselftest.rst
ktap_number=0
ktap_skipped=0
ktap_failed=0
ktap_planned=
ktap_due=

ktap_begin() {
	echo "KTAP version 1"
	ktap_due=${1:-}
}

# A plan is due when it is known that the test is not skipped as a whole.
ktap_start() {
	[ -z "$ktap_due" ] || ktap_plan "$ktap_due"
	ktap_due=
}

ktap_plan() {
	ktap_planned=$1
	echo "1..$1"
}

ktap_result() {
	ktap_start
	ktap_number=$((ktap_number + 1))
	if [ "$1" -eq 0 ]; then
		echo "ok $ktap_number $2"
		return
	fi
	ktap_failed=1
	echo "not ok $ktap_number $2"
	if [ -n "${3:-}" ]; then
		head -n 40 "$3" | cut -c1-200 | sed 's/^/# /'
	fi
}

ktap_skip() {
	ktap_start
	ktap_number=$((ktap_number + 1))
	ktap_skipped=$((ktap_skipped + 1))
	echo "ok $ktap_number $1 # SKIP $2"
}

ktap_skip_all() {
	echo "1..0 # SKIP $1"
	exit $KSFT_SKIP
}

ktap_missing() {
	echo "Bail out! $1 is missing: run make first"
	exit 1
}

ktap_end() {
	ktap_start
	[ -n "$ktap_planned" ] || ktap_plan "$ktap_number"
	[ "$ktap_skipped" -eq 0 ] || [ "$ktap_skipped" -ne "$ktap_number" ] || exit $KSFT_SKIP
	exit "$ktap_failed"
}
