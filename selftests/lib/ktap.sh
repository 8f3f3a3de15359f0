# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh
#
# The results of a shell test, as KTAP (Documentation/dev-tools/ktap.rst). To be sourced;
# bash and dash:
#
#	ktap_begin [PLAN]		the first lines; without PLAN, ktap_end prints it
#	ktap_result STATUS NAME [FILE]	good if STATUS is 0; FILE says what is wrong
#	ktap_skip NAME REASON		what this machine cannot do
#	ktap_skip_all REASON		the same of the whole test; exits
#	ktap_missing ARTEFACT		what should have been built; exits, failed
#	ktap_end			exits with the status

ktap_number=0
ktap_failed=0
ktap_planned=

ktap_begin() {
	echo "KTAP version 1"
	[ -z "${1:-}" ] || ktap_plan "$1"
}

ktap_plan() {
	ktap_planned=$1
	echo "1..$1"
}

ktap_result() {
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
	ktap_number=$((ktap_number + 1))
	echo "ok $ktap_number $1 # SKIP $2"
}

ktap_skip_all() {
	echo "1..0 # SKIP $1"
	exit 0
}

ktap_missing() {
	echo "Bail out! $1 is missing: run make first"
	exit 1
}

ktap_end() {
	[ -n "$ktap_planned" ] || ktap_plan "$ktap_number"
	exit "$ktap_failed"
}
