#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# What bash would offer after given words: KTAP on stdout.
#
#	check.sh BIN_DIR	with flowgen, dcfmedium, lasack-top and lasack-doctor in it

here=$(realpath "$(dirname "$0")")
bin=$(realpath "$1")
theirs=/usr/share/bash-completion
export TC_LIB_DIR=$here/../../build/tc
# shellcheck source=selftests/lib/ktap.sh
. "$here/../../selftests/lib/ktap.sh"
answer=$(mktemp)
trap 'rm -f "$answer"' EXIT

# offered LINE [SOURCE]...: completions for the end of LINE, sorted, in one line.
offered() {
	bash --norc --noprofile -c '
		line=$1
		shift
		for file; do . "$file"; done
		read -ra COMP_WORDS <<< "$line"
		[[ $line != *" " ]] || COMP_WORDS+=("")
		COMP_CWORD=$((${#COMP_WORDS[@]} - 1)) COMP_LINE=$line COMP_POINT=${#line}
		word=${COMP_WORDS[0]##*/}
		read -ra registered < <(complete -p "$word")
		for ((i = 0; i < ${#registered[@]}; i++)); do
			[ "${registered[i]}" != -F ] || function=${registered[i + 1]}
		done
		"$function" "$word" "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
		[ ${#COMPREPLY[@]} -eq 0 ] || printf "%s\n" "${COMPREPLY[@]}" | sort | xargs echo
	' offered "$@" 2>&1
}

result() {
	printf '%s\n' "offered:  $2" "expected: $3" > "$answer"
	[ "$2" = "$3" ]
	ktap_result $? "$1" "$answer"
}

# expect LINE WORDS: exactly these, with nobody's completion but ours.
expect() {
	result "$1" "$(offered "$1" "$here/lasack.bash")" "$2"
}

# known LINE WORDS: the words are among those offered.
known() {
	local all missing=
	all=" $(offered "$1" "$here/lasack.bash") "
	for word in $2; do
		[[ $all == *" $word "* ]] || missing="$missing $word"
	done
	result "$1 ... $2" "missing:$missing of$all" "missing: of$all"
}

# hostile NAME: a device of any name is a word, and nothing of it is run.
hostile() {
	local devices=$answer.devices
	printf '_lasack_devices() { echo %q; }\n' "$1" > "$devices"
	result "device $1" "$(offered "$bin/lasack-top -d " "$here/lasack.bash" "$devices")" "$1"
	rm -f "$devices"
}

ktap_begin ""
set="tc qdisc replace dev wlan0 root"
expect "$set " "ackwrr inflight lasack"
expect "tc -s qdisc add dev wlan0 parent 1:1 handle 2: la" "lasack"
expect "$set handle " ""
expect "tc qdisc show dev wlan0 " ""
expect "tc class add dev wlan0 parent 1: " ""
known "$set lasack " "limit memory_limit flows idle halflife quantum floor inflight help"
expect "$set lasack l" "limit"
expect "$set lasack limit " ""
known "$set lasack limit 100 " "memory_limit flows inflight"
result "an option is offered once" \
	"$(offered "$set lasack limit 100 " "$here/lasack.bash" | tr ' ' '\n' | grep -cx limit)" 0
expect "$set lasack limit 100 inflight " "auto off"
expect "$set lasack halflife " "off"
expect "$set lasack nonsense " ""
expect "$set handle 1: inflight limit " "auto"
known "$set handle 1: inflight limit auto " "stall"
expect "$set ackwrr weights 2 " ""
expect "$set ackwrr weights 2 1 " "inflight limit"
expect "$set ackwrr weights 2 1 limit 5 " "inflight"
expect "$set ackwrr inflight auto " "limit weights"
weigh="tc class change dev wlan0 parent 1: classid 1:2"
expect "$weigh " "ackwrr"
expect "$weigh ackwrr " "help weight"
expect "$weigh ackwrr weight " ""
expect "$weigh ackwrr weight 2 " ""

# Each option offered is one that tc takes, and no other is known.
for kind in lasack ackwrr inflight; do
	said=$(tc qdisc add dev lo root "$kind" unknown 2>&1)
	words=$(echo "${said##*known are }" | tr -d , | xargs -n 1 | sort | xargs echo)
	result "all options of $kind" \
		"$(offered "$set $kind " "$here/lasack.bash" | sed 's/ help//; s/^help //')" "$words"
done

if [ -r "$theirs/completions/tc" ] && [ -r "$theirs/bash_completion" ]; then
	both=("$theirs/bash_completion" "$here/lasack.bash")
	result "tc's own words stay" "$(offered "tc qdisc add dev lo ro" "${both[@]}")" root
	result "tc's own options stay" \
		"$(offered "tc qdisc add dev lo root pfifo li" "${both[@]}")" limit
	result "tc's own kinds and ours" \
		"$(offered "tc qdisc add dev lo root ac" "${both[@]}")" ackwrr
	result "ours beside theirs" "$(offered "tc qdisc add dev lo root fq_codel" "${both[@]}")" \
		fq_codel
	result "tc's own completion does not displace ours" "$(bash --norc --noprofile -c '
		. "$0"; . "$1"
		COMP_WORDS=(tc qdisc "") COMP_CWORD=2 COMP_LINE="tc qdisc " COMP_POINT=9
		_lasack_tc; complete -p tc' "${both[@]}" 2>&1)" "complete -F _lasack_tc tc"
	result "our options beside theirs" "$(offered "$set lasack fl" "${both[@]}")" "floor flows"
else
	ktap_skip "with tc's own completion" "bash-completion is not installed"
fi

expect "$bin/lasack-top --sort " "attained backlog rate"
expect "$bin/lasack-top --on" "--once"
known "$bin/lasack-top -d " lo
# shellcheck disable=SC2016 # it must not be expanded
hostile '$(id)'
hostile 'e*'
known "$bin/lasack-top " "--device --interval --json --once --sort --help"
known "$bin/lasack-doctor " "lo --seconds --json --help"
expect "$bin/lasack-doctor --se" "--seconds"
expect "$bin/lasack-doctor --seconds " ""
expect "$bin/flowgen p" "pulse"
expect "$bin/flowgen serve --i" "--interval"
expect "$bin/flowgen pulse --b" "--bursts --bytes"
known "$bin/flowgen run " "--id --dir --list --start-at"
expect "$bin/flowgen run --dir " "down up"
expect "$bin/flowgen quic --w" "--window"
expect "$bin/flowgen run --out " ""
known "$bin/dcfmedium " "hwsim saturate wmediumd"
known "$bin/dcfmedium saturate " "--stations --phy --payload --seconds --json"
known "$bin/dcfmedium hwsim " "--station --stats --pcap --wmediumd"
expect "$bin/dcfmedium wmediumd --" ""
known "$bin/dcfmedium hwsim --phy " "hrdsss-11 hrdsss-11-short ofdm-54 ht20"
apbed=$here/../../.venv/bin/apbed
known "$apbed " "run grid report export list doctor kernel boot"
known "$apbed run --" "--set --out --jobs --backend --grid --kernel --dry-run --json"
expect "$apbed run dem" demo
expect "$apbed export out/demo --" "--csv --flent --help --out --sqlite"
expect "$apbed kernel bu" build
known "$apbed distro " "fetch tree boot"
known "$apbed smp boot --" "--cpus --limit"
known "$apbed kernel build --" "--version --debug"
ktap_end
