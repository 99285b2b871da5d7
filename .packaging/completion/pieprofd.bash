# SPDX-License-Identifier: Apache-2.0
# Completion for bash. Commands and options come from `pieprofd COMMAND --help`, so that they
# are those of the program that is installed; what can follow them is said here.

_pieprofd_commands() {
	"$1" --help 2>/dev/null | sed -nE 's/^(usage:|      ) pieprofd \[?([a-z]+).*/\2/p' | sort -u
}

_pieprofd_pythons() {
	local comm name
	for comm in /proc/[1-9]*/comm; do
		{ read -r name <"$comm"; } 2>/dev/null || continue
		case $name in
		*python* | gunicorn* | uwsgi* | celery* | uvicorn*)
			comm=${comm#/proc/}
			echo "${comm%/comm}"
			;;
		esac
	done
}

_pieprofd() {
	local program=${COMP_WORDS[0]} word=${COMP_WORDS[COMP_CWORD]} previous='' command='' i
	local commands values
	COMPREPLY=()
	commands=$(_pieprofd_commands "$program")

	# "--mode=ti" comes as three words.
	((COMP_CWORD > 0)) && previous=${COMP_WORDS[COMP_CWORD - 1]}
	if [[ $word == '=' ]]; then
		word=
	elif [[ $previous == '=' ]] && ((COMP_CWORD > 1)); then
		previous=${COMP_WORDS[COMP_CWORD - 2]}
	fi

	for ((i = 1; i < COMP_CWORD; i++)); do
		if [[ ${COMP_WORDS[i]} == -- ]]; then
			# What follows is a command of its own.
			if declare -F _command_offset >/dev/null; then
				_command_offset $((i + 1))
			else
				mapfile -t COMPREPLY < <(compgen -c -- "$word")
			fi
			return
		fi
		# Not the value of an option, such as -o report.
		[[ -z $command && (i -eq 1 || ${COMP_WORDS[i - 1]} != [-=]*) &&
			$'\n'$commands$'\n' == *$'\n'"${COMP_WORDS[i]}"$'\n'* ]] && command=${COMP_WORDS[i]}
	done

	case $previous in
	-p | --pid) values=$(_pieprofd_pythons) ;;
	--mode) values='all time redundancy' ;;
	--engine) values='auto ptrace kernel' ;;
	--color | --colour) values='auto always never' ;;
	--stop-signal) values='URG WINCH CHLD' ;;
	--by) values='service version revision namespace pod pod_uid container host pid command python' ;;
	--format) values='text html json collapsed pprof speedscope firefox recording sarif github markdown jsonl' ;;
	--editor) values='vscode vscodium cursor zed pycharm idea sublime textmate' ;;
	--max-overhead) values='1% 2% 5% 10%' ;;
	--fail-if) values='own+10% total+10% could-save+10%' ;;
	-d | --duration | --interval | -r | --rate | --name | --lines | --pairs | --max-memory | --include | --exclude | --listen | --source-url) return ;;
	-o | --output | --diff | --source-root)
		mapfile -t COMPREPLY < <(compgen -f -- "$word")
		compopt -o filenames 2>/dev/null
		return
		;;
	*)
		if [[ $word == -* ]]; then
			values=$("$program" "${command:-record}" --help 2>/dev/null |
				grep -oE -- '(^|[ ,])--[a-z][a-z-]*' | grep -oE -- '--[a-z-]+' | sort -u)
		elif [[ $command == report ]]; then
			mapfile -t COMPREPLY < <(compgen -f -X '!*.pieprof' -- "$word"; compgen -d -- "$word")
			compopt -o filenames 2>/dev/null
			return
		elif [[ -z $command ]]; then
			values=$commands
			[[ $word == [0-9]* ]] && values=$(_pieprofd_pythons)
		elif [[ $command != list && $command != mcp ]]; then
			values=$(_pieprofd_pythons)
		fi
		;;
	esac
	mapfile -t COMPREPLY < <(compgen -W "$values" -- "$word")
}

complete -F _pieprofd pieprofd
