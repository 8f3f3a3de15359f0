#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The series of kernel/ackskip/patches as a reviewer would try it: git am to the
# distribution's pristine source; after each patch every file it touches
# compiles for um and x86_64 without a warning that was not there before
# (W=1), after the last also others that use the headers; checkpatch --strict,
# kernel-doc and sparse have nothing new to say (KTAP). The whole kernel is
# compiled by "apbed kernel build", the last patch applied.
#
# Usage: patches.sh [VERSION]...	on the host, from the top of the tree

set -uo pipefail
repository=$PWD
apbed=${APBED:-.venv/bin/apbed}
[ $# -gt 0 ] || set -- 6.1 6.12 7.2
work=$repository/build/patches/$1 # two lines can be tried at a time
rm -rf "$work"
mkdir -p "$work"
number=0 failed=0

# result NAME [FILE]: by the last status; the file says what is wrong
result() {
	local status=$?
	number=$((number + 1))
	if [ $status -eq 0 ]; then
		echo "ok $number $1"
		return
	fi
	failed=1
	echo "not ok $number $1"
	if [ -n "${2:-}" ]; then
		head -n 20 "$2" | cut -c1-160 | sed 's/^/# /'
	fi
}

# A configuration that has what the series touches, and no debugging that only
# costs time.
configure() {
	local arch=$1 fragment=$work/fragment
	if [ "$arch" = um ]; then
		cp "$repository/testbed/kernel/lab.config" "$fragment"
		KCONFIG_ALLCONFIG=$fragment make -s ARCH=um O="$work/um" allnoconfig
	else
		for symbol in DEBUG_INFO_DWARF5 GCC_PLUGINS KASAN KCSAN KCOV GCOV_KERNEL UBSAN \
			STACK_VALIDATION UNWINDER_ORC MODULE_SIG SYSTEM_TRUSTED_KEYRING; do
			echo "# CONFIG_$symbol is not set"
		done > "$fragment"
		printf '%s\n' CONFIG_DEBUG_INFO_NONE=y CONFIG_UNWINDER_GUESS=y >> "$fragment"
		KCONFIG_ALLCONFIG=$fragment make -s ARCH=x86_64 O="$work/x86_64" allmodconfig
	fi
	make -s -j"$(nproc)" ARCH="$arch" O="$work/$arch" prepare
}

# The series' own C files, and the one that expands its tracepoint.
objects() {
	sed -n 's|^+++ b/\(net/.*\)\.c$|\1.o|p' "$repository/kernel/ackskip/patches/$1/"*.patch | sort -u
	echo net/core/net-traces.o
}

# compile ARCH LOG TARGET...
compile() {
	local arch=$1 log=$2
	shift 2
	make -k -j"$(nproc)" ARCH="$arch" O="$work/$arch" "$@" > "$log" 2>&1
}

# Complaints of a log, without the line numbers.
complaints() {
	grep -E '(warning|error): ' "$1" | sed -E 's/:[0-9]+(:[0-9]+)?:/:/' | sort -u
}

# new BEFORE AFTER: complaints that were not there before, into $work/new; fails if any
new() {
	comm -13 <(complaints "$1") <(complaints "$2") > "$work/new"
	[ ! -s "$work/new" ]
}

# try_patch VERSION PATCH: the tree goes one patch further
try_patch() {
	local name
	name="$1 $(basename "$2" .patch | cut -c1-40)"
	git am -q "$2" > "$work/am" 2>&1
	result "$name: git am" "$work/am"
	# In a TRACE_EVENT() every file of include/trace/events breaks these two rules.
	scripts/checkpatch.pl --strict --no-tree --no-summary --show-types --showfile --terse "$2" |
		grep -vE 'include/trace/events/.*(PARENTHESIS_ALIGNMENT|OPEN_ENDED_LINE)' \
		> "$work/checkpatch"
	[ ! -s "$work/checkpatch" ]
	result "$name: checkpatch --strict" "$work/checkpatch"
	for arch in um x86_64; do
		compile "$arch" "$work/$arch.log" W=1 "${objects[@]}" &&
			new "$work/$arch.before" "$work/$arch.log"
		result "$name: $arch" "$work/new"
	done
}

try_series() {
	local version=$1
	rm -rf "$work"/{tree,um,x86_64}
	"$repository/$apbed" kernel source --version "$version" "$work" > /dev/null
	cd "$work/tree" || exit 1
	git init -q .
	git config user.name patches.sh
	git config user.email patches@invalid
	sed -n 's|^+++ b/||p' "$repository/kernel/ackskip/patches/$version/"*.patch | sort -u |
		xargs git add -f
	git commit -q -m "linux-source-$version"
	mapfile -t objects < <(objects "$version")
	for arch in um x86_64; do
		configure "$arch" > "$work/configure" 2>&1
		result "$version: configured for $arch" "$work/configure"
		compile "$arch" "$work/$arch.before" W=1 "${objects[@]}"
		compile "$arch" "$work/$arch.sparse-before" C=2 CHECK=sparse "${objects[@]}"
	done
	for patch in "$repository/kernel/ackskip/patches/$version/"*.patch; do
		try_patch "$version" "$patch"
	done
	for arch in um x86_64; do
		compile "$arch" "$work/$arch.log" C=2 CHECK=sparse "${objects[@]}" &&
			new "$work/$arch.sparse-before" "$work/$arch.log"
		result "$version: $arch sparse" "$work/new"
	done
	scripts/kernel-doc -none include/net/tcp.h 2>&1 | grep tcp_ack_ > "$work/doc"
	[ ! -s "$work/doc" ]
	result "$version: kernel-doc" "$work/doc"
	compile x86_64 "$work/users.log" KCFLAGS=-Werror net/mptcp/ net/ipv6/tcp_ipv6.o \
		net/ipv4/{tcp_bbr,tcp_cubic,tcp_diag,tcp_minisocks,tcp_recovery}.o
	result "$version: x86_64 users of the headers" "$work/users.log"
	cd "$repository" || exit 1
}

echo TAP version 13
for version in "$@"; do
	try_series "$version"
done
rm -rf "$work"
echo "1..$number"
exit $failed
