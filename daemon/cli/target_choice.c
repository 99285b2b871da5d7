/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/cli/target_choice.h"

#include "daemon/cli/option_table.h"
#include "daemon/session/process_search.h"

#include <stdio.h>

static enum exit_code explain_none(const struct options *options, size_t others)
{
	if (!options->cgroup)
		fprintf(stderr, "pieprofd: no Python process has a command line like '%s'\n",
			options->name);
	else if (others)
		fprintf(stderr,
			"pieprofd: none of the %zu processes in cgroup '%s'%s%s%s runs Python\n",
			others, options->cgroup, options->name ? " with a command line like '" : "",
			options->name ? options->name : "", options->name ? "'" : "");
	else
		fprintf(stderr,
			"pieprofd: there is no process in a cgroup '%s'%s%s%s\n"
			"  Paths are as in /proc/PID/cgroup, names as systemd-cgls, podman ps and "
			"docker ps show them.\n",
			options->cgroup, options->name ? " with a command line like '" : "",
			options->name ? options->name : "", options->name ? "'" : "");
	return EXIT_NO_TARGET;
}

/* --name, --cgroup: 0, or an exit code. */
static enum exit_code find_targets(struct options *options, struct pid_list *found)
{
	const struct process_query query = { .name = options->name, .cgroup = options->cgroup };
	size_t others;

	if (process_search(&query, found, &others)) {
		fprintf(stderr, "pieprofd: /proc is not readable\n");
		return EXIT_INTERNAL;
	}
	if (!found->count && !options->wait)
		return explain_none(options, others);
	if (found->count > 1 && !options->cgroup && !options->all && !options->follow &&
	    !options->wait) {
		fprintf(stderr, "pieprofd: %zu processes match '%s'%s\n", found->count,
			options->name,
			options_command_has(options->action, "all")
				? "; --all profiles them together"
				: ": give one by its id");
		process_search_print(stderr, found);
		return EXIT_USAGE;
	}
	options->pid = found->count ? found->items[0] : 0;
	return EXIT_OK;
}

enum exit_code target_choice(struct options *options, struct pid_list *targets)
{
	/* They come and go: all are found while they are sampled. */
	if (options->all_python)
		return EXIT_OK;
	if (options->name || options->cgroup)
		return find_targets(options, targets);
	for (unsigned i = 0; i < options->pid_count; i++)
		if (pid_list_add(targets, options->pids[i])) {
			fprintf(stderr, "pieprofd: out of memory\n");
			return EXIT_INTERNAL;
		}
	return EXIT_OK;
}
