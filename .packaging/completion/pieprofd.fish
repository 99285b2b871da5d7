# SPDX-License-Identifier: Apache-2.0
# Completion for fish. Commands and options come from `pieprofd COMMAND --help`, as in bash.

function __pieprofd_commands
	set -l words (commandline -opc)
	$words[1] --help 2>/dev/null | string replace -rf '^(?:usage:|      ) pieprofd \[?([a-z]+).*' '$1' | sort -u
end

function __pieprofd_command
	set -l commands (__pieprofd_commands)
	for word in (commandline -opc)[2..-1]
		if contains -- $word $commands
			echo $word
			return
		end
	end
	return 1
end

function __pieprofd_options
	set -l words (commandline -opc)
	$words[1] (__pieprofd_command; or echo record) --help 2>/dev/null | string match -ar -- '--[a-z][a-z-]*' | sort -u
end

function __pieprofd_value_of
	set -l words (commandline -opc)
	contains -- $words[-1] $argv
end

complete -c pieprofd -f
complete -c pieprofd -n 'not __pieprofd_command' -a '(__pieprofd_commands)'
complete -c pieprofd -n 'string match -q -- "-*" (commandline -ct)' -a '(__pieprofd_options)'
complete -c pieprofd -n '__pieprofd_value_of -p --pid' -a '(__fish_complete_pids)'
complete -c pieprofd -n 'contains -- (__pieprofd_command) record top dump heap trace doctor serve' -a '(__fish_complete_pids)'
complete -c pieprofd -n '__pieprofd_value_of --mode' -a 'all time redundancy'
complete -c pieprofd -n '__pieprofd_value_of --engine' -a 'auto ptrace kernel'
complete -c pieprofd -n '__pieprofd_value_of --color --colour' -a 'auto always never'
complete -c pieprofd -n '__pieprofd_value_of --stop-signal' -a 'URG WINCH CHLD'
complete -c pieprofd -n '__pieprofd_value_of --format' \
	-a 'text html json collapsed pprof speedscope firefox recording sarif github markdown jsonl'
complete -c pieprofd -n '__pieprofd_value_of --by' \
	-a 'service version revision namespace pod pod_uid container host pid command python'
complete -c pieprofd -n '__pieprofd_value_of --fail-if' -a 'own+10% total+10% could-save+10%'
complete -c pieprofd -n '__pieprofd_value_of --editor' \
	-a 'vscode vscodium cursor zed pycharm idea sublime textmate'
complete -c pieprofd -F -n '__pieprofd_value_of -o --output --diff --source-root'
complete -c pieprofd -F -n 'test (__pieprofd_command; or echo) = report'
