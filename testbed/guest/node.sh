#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# A session on one node of a grid. It does what the lead orders, and puts the
# node back as it was when the lead says so, goes away, or is not heard of for
# LEASE_S seconds. POSIX shell, so that a router's busybox runs it too.
#
#   node.sh DIRECTORY LEASE_S        orders on standard input, answers on output
#
# Each order is a line; each answer is a line "= STATUS BYTES" and that many
# bytes:
#
#   beat                  the lead is there: the lease begins anew
#   run COMMAND           run it, and answer with what it said
#   start NAME COMMAND    start a program that runs until it is stopped
#   stop NAME             end it, and answer with its status
#   fetch LIMIT FILE      the bytes of a file, at most LIMIT
#   quit                  put everything back; the answer names what failed
#
# Whoever changes something first adds to the journal how to undo it: one file
# for each change, so that a full disk leaves no half of one. Commands may use
# the functions named keep_*, which do that.

directory=$1
lease_s=$2
PATH=$PATH:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
LC_ALL=C
export PATH LC_ALL

# Modules that a session loads, or the kernel for it.
ours='^(inflight|sch_[a-z0-9_]*|tcp_[a-z0-9_]*|ccm|ctr|cmac|gcm|ghash_generic) '

# keep SCRIPT: undo the change that comes next with this.
keep() {
	number=$(($(find "$directory/journal" -type f | wc -l) + 1001))
	new=$directory/journal.new
	if printf '%s\n' "$1" 2> /dev/null > "$new" && mv "$new" "$directory/journal/$number"; then
		return 0
	fi
	rm -f "$new"
	echo "no space left in $directory"
	return 1
}

# keep_setting FILE: of /proc or /sys
keep_setting() {
	old=$(cat "$1") || return
	keep "printf '%s\n' '$old' > '$1'"
}

# keep_link DEVICE: whether it is up. It had no address, the lead has seen to that.
keep_link() {
	flags=$(cat "/sys/class/net/$1/flags") || return
	[ $((flags & 1)) = 1 ] && state=up || state=down
	keep "ip -4 address flush dev $1; ip link set $1 $state"
}

# keep_wifi DEVICE: the kind of its interface and its power save
keep_wifi() {
	kind=$(iw dev "$1" info | awk '$1 == "type" { print $2; exit }')
	[ -n "$kind" ] || return 1
	save=$(iw dev "$1" get power_save 2> /dev/null | awk '{ print $3 }')
	keep "put_wifi $1 $kind $save"
}

put_wifi() {
	now=$(iw dev "$1" info | awk '$1 == "type" { print $2; exit }')
	if [ "$now" != "$2" ]; then
		ip link set "$1" down && iw dev "$1" set type "$2" || return
	fi
	iw dev "$1" set bitrates 2> /dev/null
	[ -z "$3" ] || iw dev "$1" set power_save "$3"
}

# keep_retry PHY: the attempts at short and at long frames
keep_retry() {
	short=$(iw phy "$1" info | awk '/Retry short limit/ { print $4; exit }')
	long=$(iw phy "$1" info | awk '/Retry long limit/ { print $4; exit }')
	[ -n "$short$long" ] || return 1
	keep "iw phy $1 set retry short $short long $long"
}

# keep_txpower DEVICE: automatic power, or the fixed one if that is another
keep_txpower() {
	dbm=$(txpower "$1")
	[ -n "$dbm" ] || return 1
	keep "put_txpower $1 $dbm"
}

txpower() {
	iw dev "$1" info | awk '$1 == "txpower" { print $2; exit }'
}

put_txpower() {
	iw dev "$1" set txpower auto
	[ "$(txpower "$1")" = "$2" ] && return
	iw dev "$1" set txpower fixed "$(echo "$2" | awk '{ printf "%d", $1 * 100 }')"
}

country() {
	iw reg get | awk '$1 == "country" { print substr($2, 1, 2); exit }'
}

keep_country() {
	old=$(country)
	[ -n "$old" ] && keep "iw reg set $old"
}

keep_modules() {
	before=$(awk '{ printf "%s,", $1 }' /proc/modules)
	keep "forget_modules ,$before"
}

# Unloads what the session has loaded; what uses another goes first.
forget_modules() {
	left=1
	while [ -n "$left" ]; do
		left=
		unused=$(grep -E "$ours" /proc/modules | awk '$3 == 0 { print $1 }')
		for module in $unused; do
			case $1 in
			*",$module,"*) ;;
			*) rmmod "$module" && left=1 ;;
			esac
		done
	done
	loaded=$(grep -E "$ours" /proc/modules | awk '{ print $1 }')
	for module in $loaded; do
		case $1 in
		*",$module,"*) ;;
		*)
			echo "$module is in use"
			return 1
			;;
		esac
	done
}

# When a process was started, in clock ticks since boot.
ticks() {
	sed 's/.*) //' "/proc/$1/stat" 2> /dev/null | cut -d' ' -f20 | grep . || echo 0
}

# Whether a process is there and is the one that was started: PID TICKS.
runs() {
	[ -r "/proc/$1/stat" ] || return 1
	# shellcheck disable=SC2046 # the fields after the name, which may hold spaces
	set -- "$2" $(sed 's/.*) //' "/proc/$1/stat" 2> /dev/null)
	[ "${21-}" = "$1" ] && [ "$2" != Z ]
}

end_program() {
	for signal in TERM KILL; do
		tries=0
		while runs "$1" "$2" && [ $tries -lt 50 ]; do
			[ $tries -gt 0 ] || kill -$signal "$1"
			sleep 0.1 2> /dev/null || sleep 1
			tries=$((tries + 1))
		done
	done
	! runs "$1" "$2"
}

start() {
	sh -c "exec $2" > "$directory/out/$1.log" 2>&1 < /dev/null &
	pid=$!
	if ! keep "end_program $pid $(ticks "$pid")"; then
		kill "$pid"
		return 1
	fi
	eval "pid_$1=$pid"
}

stop() {
	eval "pid=\$pid_$1"
	kill "$pid" 2> /dev/null
	wait "$pid"
}

# Undoes everything, newest first; says what could not be undone in `failures`.
restore() {
	mkdir "$directory/restoring" 2> /dev/null || return
	cd /
	failures=
	for number in $(find "$directory/journal" -type f | sed 's/.*\///' | sort -r); do
		undo=$(cat "$directory/journal/$number")
		tries=0
		until said=$(eval "$undo" 2>&1); do
			tries=$((tries + 1))
			if [ $tries = 5 ]; then
				failures="$failures$undo: $said
"
				break
			fi
			sleep 1
		done
	done
	[ "$watcher" = self ] || kill "$watcher" 2> /dev/null
	rm -rf "$directory"
	[ -z "$failures" ] && return
	logger -t apbed "not put back: $failures" 2> /dev/null
	return 1
}

# Beside the session, and deaf to its end: the lease. A session that is putting
# back is left to it as long as it lives.
watch() {
	watcher=self
	trap '' HUP INT
	trap 'left=$lease_s' USR1
	trap 'kill "$pause"; exit' TERM
	left=$lease_s
	mkdir "$directory/watched"
	while [ "$left" -gt 0 ]; do
		sleep 1 &
		pause=$!
		wait "$pause"
		left=$((left - 1))
		[ ! -e "$directory/restoring" ] || ! runs "$1" "$2" || left=$lease_s
	done
	kill -KILL "$1"
	rmdir "$directory/restoring" 2> /dev/null
	[ ! -d "$directory/journal" ] || restore
}

answer() {
	printf '= %d %d\n%s' "$1" "$(printf %s "$2" | wc -c)" "$2"
}

fetch() {
	bytes=$(wc -c < "$2") || bytes=-1
	if [ "$bytes" -ge 0 ] && [ "$bytes" -le "$1" ]; then
		printf '= 0 %d\n' "$bytes"
		head -c "$bytes" "$2"
	else
		answer 1 "$2 has $bytes bytes"
	fi
}

session() {
	while IFS= read -r order; do
		verb=${order%% *}
		rest=${order#* }
		case $verb in
		beat)
			kill -USR1 "$watcher" || break
			answer 0 ''
			;;
		run)
			said=$( (eval "$rest") 2>&1 < /dev/null)
			answer $? "$said"
			;;
		start)
			if start "${rest%% *}" "${rest#* }" > /dev/null; then
				answer 0 ''
			else
				answer 1 "cannot start it: no space left in $directory"
			fi
			;;
		stop)
			stop "$rest"
			answer $? ''
			;;
		fetch) fetch "${rest%% *}" "${rest#* }" ;;
		quit)
			restore
			answer $? "$failures"
			exit
			;;
		*) answer 2 "no such order: $verb" ;;
		esac
	done
	restore
}

boot_id() {
	cat /proc/sys/kernel/random/boot_id
}

# What a session left whose watch is gone too: nobody else puts it back. After a
# reboot only its files are left.
clear_stale() {
	[ -d "$directory/journal" ] && [ -s "$directory/watch" ] || return
	# shellcheck disable=SC2046 # two words
	runs $(cat "$directory/watch") && return
	rmdir "$directory/restoring" 2> /dev/null
	[ "$(cat "$directory/boot" 2> /dev/null)" = "$(boot_id)" ] || rm -rf "$directory/journal"
	restore
}

watcher=self
[ ! -e "$directory" ] || clear_stale > /dev/null 2>&1
if ! mkdir "$directory" 2> /dev/null; then
	answer 1 "$directory is there: another session uses this node"
	exit 1
fi
chmod 700 "$directory"
mkdir "$directory/journal" "$directory/out" "$directory/files" && cd "$directory" || exit
boot_id > boot
trap '' HUP PIPE
watch $$ "$(ticks $$)" > /dev/null 2>&1 < /dev/null &
watcher=$!
echo "$watcher $(ticks "$watcher")" > watch
until [ -e watched ]; do sleep 0.1 2> /dev/null || sleep 1; done
answer 0 ''
session
