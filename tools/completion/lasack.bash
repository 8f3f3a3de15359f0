# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# Completion for bash: the queue disciplines of this project in tc, and its
# tools. Source it, or install it where bash-completion looks.
#
# Principle: what a program takes it says itself when asked for help; hardly a
# word is repeated here. All else about tc is left to the completion that comes
# with it (iproute2's), if there is one.

# WORDS...: those that begin as what is typed. Not by compgen -W, which runs what
# stands in a word such as $(...), and a device may have such a name.
_lasack_reply() {
	local word words
	COMPREPLY=()
	read -r -d '' -a words <<< "$*"
	for word in "${words[@]}"; do
		if [[ $word == "${COMP_WORDS[COMP_CWORD]}"* ]]; then
			COMPREPLY+=("$(printf %q "$word")")
		fi
	done
}

_lasack_devices() {
	local device
	for device in /sys/class/net/*; do
		[ -d "$device" ] && echo "${device##*/}"
	done
}

# --- tc ---

# KIND: "OPTION VALUE..." of each "[ OPTION VALUE... ]" in its usage, a line each.
_lasack_tc_usage() {
	"${COMP_WORDS[0]}" qdisc add dev lo root "$1" help 2>&1 |
		awk '/^Usage:/ { on = 1 } /^  [a-z]/ { exit } on' |
		tr '[\n' '\n ' | sed '1d; s/\].*//; s/[{|}]/ /g'
}

# KIND WORD...: what can follow these words of its own. In the usage a word in
# capitals stands for a number; an option has one value, or as many as these.
_lasack_tc_own() {
	local usage option words rest='help' numbers
	usage=$(_lasack_tc_usage "$1")
	shift
	while [ $# -gt 0 ]; do
		option=$1
		shift
		words=$(awk -v option="$option" '$1 == option { $1 = ""; print }' <<< "$usage")
		[ -n "$words" ] || return
		usage=$(awk -v option="$option" '$1 != option' <<< "$usage")
		rest=
		if [ $# -eq 0 ]; then
			_lasack_reply "$(grep -oE '\b[a-z]+\b' <<< "$words")"
			return
		fi
		numbers=$(grep -oE '\b[A-Z]+\b' <<< "$words" | wc -l)
		[[ $1 != [a-z]* && $numbers -gt 1 ]] || numbers=1
		[ $# -ge "$numbers" ] || return
		shift "$numbers"
	done
	_lasack_reply "$(awk '{ print $1 }' <<< "$usage") $rest"
}

_lasack_tc_theirs() {
	local file
	if ! declare -F _tc >/dev/null; then
		for file in /usr/share/bash-completion/completions/tc \
			/usr/local/share/bash-completion/completions/tc; do
			# shellcheck disable=SC1090 # not ours
			[ ! -r "$file" ] || . "$file"
		done
		complete -F _lasack_tc tc
	fi
	# Theirs needs bash-completion's own functions.
	if declare -F _tc >/dev/null && declare -F _init_completion >/dev/null; then
		_tc
	fi
}

_lasack_tc() {
	local i verb='' place='' more theirs
	COMPREPLY=()
	for ((i = 1; i < COMP_CWORD; i++)); do
		case ${COMP_WORDS[i]} in
		qdisc) verb='qdisc' ;;
		class) verb='class' ;;
		add | replace | change | link) [ "$verb" = qdisc ] && verb='set' ;;
		classid) [ "$verb" = class ] && place='class' ;;
		root | parent) [ "$verb" = set ] && place=${COMP_WORDS[i]} ;;
		lasack | ackwrr | inflight)
			if [ "$place" = class ]; then
				[ "${COMP_WORDS[*]:i:COMP_CWORD-i}" != ackwrr ] || _lasack_reply weight help
				return
			fi
			if [ -n "$place" ]; then
				_lasack_tc_own "${COMP_WORDS[@]:i:COMP_CWORD-i}"
				return
			fi
			;;
		esac
	done
	_lasack_tc_theirs
	# After these words a number is due, and no kind.
	case ${COMP_WORDS[COMP_CWORD - 1]} in
	parent | handle | dev | classid) return ;;
	esac
	case $place in
	'') return ;;
	class) more=ackwrr ;;
	*) more='lasack ackwrr inflight' ;;
	esac
	theirs=("${COMPREPLY[@]}")
	_lasack_reply "$more"
	COMPREPLY=("${theirs[@]}" "${COMPREPLY[@]}")
}
complete -F _lasack_tc tc

# --- the tools ---

# COMMAND...: the long options that its --help names.
_lasack_options() {
	"$@" --help 2>/dev/null | grep -oE -- '--[a-z][a-z-]*' | sort -u
}

_lasack_complete_lasack_top() {
	case ${COMP_WORDS[COMP_CWORD - 1]} in
	-d | --device) _lasack_reply "$(_lasack_devices)" ;;
	-s | --sort) _lasack_reply attained rate backlog ;;
	-i | --interval) ;;
	*) _lasack_reply "$(_lasack_options "${COMP_WORDS[0]}")" ;;
	esac
}
complete -F _lasack_complete_lasack_top lasack-top

_lasack_complete_lasack_doctor() {
	case ${COMP_WORDS[COMP_CWORD - 1]} in
	-s | --seconds) ;;
	*)
		_lasack_reply "$(_lasack_options "${COMP_WORDS[0]}")" "$(_lasack_devices)"
		;;
	esac
}
complete -F _lasack_complete_lasack_doctor lasack-doctor

# Each command's options are in its own lines of the usage.
_lasack_flowgen_usage() {
	"$1" --help 2>/dev/null | awk '/^$/ { exit } NR > 1'
}

_lasack_complete_flowgen() {
	local program=${COMP_WORDS[0]} command=${COMP_WORDS[1]}
	if [ "$COMP_CWORD" -eq 1 ]; then
		_lasack_reply "$(_lasack_flowgen_usage "$program" |
			awk '$1 == "flowgen" { print $2 }') --help"
		return
	fi
	case ${COMP_WORDS[COMP_CWORD - 1]} in
	-d | --dir) _lasack_reply up down ;;
	-o | --out | -l | --list) ;;
	*)
		[[ ${COMP_WORDS[COMP_CWORD]} == -* || -z ${COMP_WORDS[COMP_CWORD]} ]] || return
		_lasack_reply "$(_lasack_flowgen_usage "$program" | awk -v command="$command" \
			'$1 == "flowgen" { on = $2 == command } on' |
			grep -oE -- '--[a-z][a-z-]*')"
		;;
	esac
}
complete -o default -F _lasack_complete_flowgen flowgen

# PROGRAM: the commands that its --help lists, indented.
_lasack_commands() {
	"$@" --help 2>/dev/null | sed -nE 's/^ {2,4}([a-z][a-z-]*) {2,}.*/\1/p'
}

# "ofdm-R" stands for its rates.
_lasack_profiles() {
	local word rate
	for word in $("$1" --help 2>/dev/null | sed -n 's/^Profiles: //p' | tr -d ',.()'); do
		case $word in
		R | is | or | to | [0-9]*) ;;
		*-R*) for rate in 6 9 12 18 24 36 48 54; do echo "${word/R/$rate}"; done ;;
		*) echo "$word" ;;
		esac
	done
}

_lasack_complete_dcfmedium() {
	local program=${COMP_WORDS[0]}
	if [ "$COMP_CWORD" -eq 1 ]; then
		_lasack_reply "$(_lasack_commands "$program") --help"
		return
	fi
	case ${COMP_WORDS[COMP_CWORD - 1]} in
	--phy) _lasack_reply "$(_lasack_profiles "$program")" ;;
	--eifs) _lasack_reply on off ;;
	*)
		[[ ${COMP_WORDS[COMP_CWORD]} == -* || -z ${COMP_WORDS[COMP_CWORD]} ]] || return
		_lasack_reply "$(_lasack_options "$program" "${COMP_WORDS[1]}")"
		;;
	esac
}
complete -o default -F _lasack_complete_dcfmedium dcfmedium

_lasack_complete_apbed() {
	local program=${COMP_WORDS[0]} path=("${COMP_WORDS[@]:1:1}")
	case ${COMP_WORDS[1]} in
	kernel | distro | smp | grid) path=("${COMP_WORDS[@]:1:2}") ;;
	esac
	if [ "$COMP_CWORD" -le "${#path[@]}" ]; then
		unset 'path[-1]'
		_lasack_reply "$(_lasack_commands "$program" "${path[@]}") --help"
		return
	fi
	case ${COMP_WORDS[COMP_CWORD - 1]} in
	--version | --kernel) _lasack_reply 6.1 6.12 7.2 ;;
	--out | --set | --jobs | --grid | --) ;;
	*)
		if [[ ${COMP_WORDS[COMP_CWORD]} == -* ]]; then
			_lasack_reply "$(_lasack_options "$program" "${path[@]}")"
		elif [ "${path[0]}" = run ]; then
			_lasack_reply "$("$program" list 2>/dev/null | cut -d' ' -f1)"
		fi
		;;
	esac
}
complete -o default -F _lasack_complete_apbed apbed
