# SPDX-License-Identifier: GPL-2.0
# Bash completion of pathctl.

_pathctl_cgroups() {
	local root=${PATHCTL_CGROUP:-/sys/fs/cgroup}
	find "$root" -mindepth 1 -type d -printf '%P\n' 2>/dev/null
}

_pathctl_drivers() {
	tr -d '[]' <"${PATHCTL_SYSFS:-/sys/kernel/mm/path}/driver" 2>/dev/null | tr ' ' '\n'
}

_pathctl_parameters() {
	local file dir=${PATHCTL_SYSFS:-/sys/kernel/mm/path}/drivers/$1

	for file in "$dir"/*; do
		[[ -f $file && $file != */caps ]] && echo "${file##*/}="
	done
}

_pathctl_options() {
	case $1 in
	status | driver) echo --json --help ;;
	track)
		echo --duration --misses --output --json --csv --svg --name --limit --keep --help ;;
	mrc) echo --csv --svg --json --region --window --width --height --help ;;
	size) echo --misses --delta --window --json --help ;;
	regions) echo --pid --top --json --help ;;
	top) echo --once --json --delay --help ;;
	prefetch) echo --once --json --top --delay --help ;;
	record) echo --output --duration --json --help ;;
	replay) echo --check --misses --output --json --csv --svg --help ;;
	metrics) echo --openmetrics --help ;;
	stalls) echo --on --off --once --json --tasks --task --svg --duration --delay --help ;;
	counters) echo --json --help ;;
	clusters) echo --lines --shmap --svg --once --json --delay --help ;;
	*) echo --help ;;
	esac
}

# How many words between the command and the last one are no options
_pathctl_words() {
	local i count=0

	for ((i = 2; i < COMP_CWORD; i++)); do
		[[ ${COMP_WORDS[i]} == -* ]] || count=$((count + 1))
	done
	echo "$count"
}

# The words that may stand for the last argument of a command.
_pathctl_arguments() {
	case $1 in
	driver)
		if [[ $COMP_CWORD -eq 2 ]]; then
			_pathctl_drivers
		else
			_pathctl_parameters "${COMP_WORDS[2]}"
		fi ;;
	track)
		if [[ $COMP_CWORD -gt 2 ]]; then printf '%s\n' on off; else _pathctl_cgroups; fi ;;
	prefetch)
		if [[ $COMP_CWORD -gt 2 ]]; then
			printf '%s\n' none space ppg auto
		else
			_pathctl_cgroups
		fi ;;
	clusters)
		if [[ $(_pathctl_words) -gt 0 ]]; then
			printf '%s\n' none process cgroup
		else
			_pathctl_cgroups
		fi ;;
	mrc | size | regions | record | stalls | counters) _pathctl_cgroups ;;
	replay) compgen -f -- "${COMP_WORDS[COMP_CWORD]}" ;;
	esac
}

# Names of cgroups may hold anything but newlines and slashes.
_pathctl_offer() {
	local word=$1 line

	while read -r line; do
		[[ $line == "$word"* ]] && COMPREPLY+=("$(printf %q "$line")")
	done
}

_pathctl() {
	local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}
	local commands=(status on off driver track mrc size regions top prefetch record replay metrics
		stalls counters clusters)

	COMPREPLY=()
	if [[ $COMP_CWORD -eq 1 ]]; then
		_pathctl_offer "$word" < <(printf '%s\n' "${commands[@]}" --help)
	elif [[ $before == --window ]]; then
		_pathctl_offer "$word" < <(printf '%s\n' total recent epoch)
	elif [[ $before == --svg || $before == --csv || $before == --output || $before == -o ]]; then
		mapfile -t COMPREPLY < <(compgen -f -- "$word")
	elif [[ $word == -* ]]; then
		_pathctl_offer "$word" < <(_pathctl_options "${COMP_WORDS[1]}" | tr ' ' '\n')
	else
		_pathctl_offer "$word" < <(_pathctl_arguments "${COMP_WORDS[1]}")
	fi
	if [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == *= ]]; then
		compopt -o nospace 2>/dev/null
	fi
	return 0
}

complete -F _pathctl pathctl
