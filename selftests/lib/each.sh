#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Runs Python tests of selftests/ one after the other in one lab kernel;
# the status is 1 if any failed.
#
# Usage: each.sh 'TEST.py [ARGUMENT]...'...	as root in the lab

cd "$(dirname "$0")/.." || exit 1
status=0
for words in "$@"; do
	# shellcheck disable=SC2086 # a name and its arguments
	/usr/bin/python3 $words || status=1
done
exit $status
