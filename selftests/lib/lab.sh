# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh
#
# What the self-tests that run as root in a kernel under test share: where the modules
# and programs are, KTAP results, and whether the kernel complained. To be sourced,
# with the count of results to come:
#
#	plan=6; . "$(dirname "$0")/../lib/lab.sh"
#
# In a checkout of the project they test what is built there. In a kernel's own
# selftests they test what is installed, and what is missing is a reason to skip.
#
# Principle: a result is good if nothing was written to its file, so every step
# says what went wrong where it went wrong ($work/errors), and one line reports it.

set -u
selftests=$(realpath "$(dirname "$0")/..")
checkout=$(realpath "$selftests/..")
arch=$(uname -m)
grep -q 'User Mode Linux' /proc/cpuinfo && arch=um
if [ -d "$checkout/kernel/uapi" ]; then
	export TC_LIB_DIR="$checkout/build/tc" PATH="$checkout/build/bin:$PATH"
else
	checkout=
fi
modules=$checkout/build/modules/$(uname -r)-$arch

# shellcheck source=selftests/lib/ktap.sh
. "$selftests/lib/ktap.sh"

lacking() {
	[ -z "$checkout" ] || ktap_missing "$1"
	ktap_skip_all "no $1 here"
}

# need_module MODULE...: by their paths below the folder they are built in.
need_module() {
	for needed in "$@"; do
		[ -e "$modules/$needed.ko" ] ||
			{ [ -z "$checkout" ] && modinfo "${needed##*/}" > /dev/null 2>&1; } ||
			lacking "module $needed"
	done
}

need_program() {
	for needed in "$@"; do
		command -v "$needed" > /dev/null || lacking "program $needed"
	done
}

need_kunit() {
	[ -d /sys/module/kunit ] || modinfo kunit > /dev/null 2>&1 ||
		ktap_skip_all "this kernel has no KUnit (CONFIG_KUNIT)"
}

# insert MODULE [PARAMETER]...: one of ours, as need_module names it.
insert() {
	quietly try_insert "$@"
}

try_insert() {
	# Not modprobe: it takes a module that refuses with EEXIST for one that is loaded.
	inserted=$modules/$1.ko
	[ -n "$checkout" ] || inserted=$(modinfo -n "${1##*/}")
	shift
	insmod "$inserted" "$@"
}

need_module sch_lasack
tc qdisc add dev lo root lasack help 2>&1 | grep -q "[.][.][.] lasack" || lacking "lasack in tc"
work=$(mktemp -d)
: > "$work/errors"
log=

# shellcheck disable=SC2317 # called by the trap
leave() {
	# shellcheck disable=SC2086 # a process id, or nothing
	[ -z "$log" ] || kill $log 2> "$work/kill"
	command -v cleanup > "$work/cleanup" && cleanup
	rm -rf "$work"
}
trap leave EXIT

# report WHAT FILE: a test is good if nothing was written to FILE, which is emptied. What goes wrong
# after it counts for the next test.
report() {
	good=0
	[ ! -s "$2" ] || good=1
	ktap_result $good "$1" "$2"
	: > "$2"
}

quietly() {
	"$@" > "$work/said" 2>&1 || { echo "$*"; cat "$work/said"; } >> "$work/errors"
}

load() {
	for module in inflight sch_inflight sch_lasack sch_ackwrr; do
		insert "$module"
	done
}

unload() {
	quietly rmmod sch_ackwrr sch_lasack sch_inflight inflight
}

# One result. A module that something still uses does not go.
report_unload() {
	unload
	report "the modules are unloaded" "$work/errors"
}

# What the kernel said since the mark that nobody should have to say. ARCH=um
# does not tell kmemleak of modules' memory, so every module, whichever, brings
# reports of two kinds with their traces; they are the baseline, and only those.
complaints() {
	awk -v mark="$mark" -v um="$([ "$arch" = um ] && echo 1)" '
		$0 == mark { after = 1; next }
		!after { next }
		um && /^kmemleak: (Trying to color|Adding scan area to) unknown object at / {
			trace = 1; next
		}
		trace && /^(CPU: |Stack:|Call Trace:| )/ { next }
		{ trace = 0 }
		/WARNING|BUG|KASAN|UBSAN|Oops|Call Trace|suspicious|INFO: / ||
		/leak|refcount|unregister_netdevice/
		END { if (!after) print "the log has lost its beginning" }
	' "$work/log"
}

# watch_kernel: from here on its complaints are the test's doing.
watch_kernel() {
	ktap_start
	mark="$(basename "$0") $$: all before this is none of the modules' doing"
	leaks=/sys/kernel/debug/kmemleak
	# Only when asked: it does not see what a module loaded on ARCH=um refers to.
	if [ -w "$leaks" ]; then
		sleep 6
		for order in scan=off scan clear; do
			echo "$order" > "$leaks"
		done
	fi
	dmesg --follow --notime > "$work/log" &
	log=$!
	echo "$mark" > /dev/kmsg
}

# Two results: the log, the leaks. kmemleak takes an object for lost 5 s after
# it was made, and only if it still is at the next scan.
report_kernel() {
	sleep 1
	kill "$log"
	log=
	complaints > "$work/complaints"
	report "the kernel log is clean" "$work/complaints"
	if [ -w "$leaks" ]; then
		for _ in 1 2; do
			sleep 6
			echo scan > "$leaks"
		done
		cat "$leaks" > "$work/leaks"
		report "no memory leaked" "$work/leaks"
	else
		ktap_skip "no memory leaked" "this kernel has no kmemleak"
	fi
}

# shellcheck disable=SC2154 # the script's; empty if something else says it
ktap_begin "$plan"
