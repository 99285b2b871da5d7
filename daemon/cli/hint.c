/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/cli/hint.h"

#include "attach/procfs.h"
#include "common/clock.h"
#include "daemon/report/encode/escape.h"
#include "daemon/session/descendants.h"
#include "daemon/session/process_search.h"

#include <stdlib.h>
#include <string.h>

/* Of the time watched, and of what target and children used: less is no work of a program. */
#define WORK_SHARE_MIN 0.05
#define PART_MIN       0.1
/* Who used less of the CPU than that may have left the work to others. */
#define IDLE_SHARE_MAX 0.1

#define LOOK_MIN_NS   (200 * NS_PER_MS)
#define LOOK_COSTS    100
#define COMMAND_SHOWN 60

static bool children_read_work(struct hint_children *hint)
{
	uint64_t began_ns = clock_thread_cpu_ns(), pause_ns, work_ns;
	bool found = !descendants_work(hint->pid, &work_ns, &hint->count);

	/* Less than before: one that nobody has waited for. */
	if (found && work_ns > hint->now_ns)
		hint->now_ns = work_ns;
	pause_ns = (clock_thread_cpu_ns() - began_ns) * LOOK_COSTS;
	hint->next_ns = clock_now_ns() + (pause_ns > LOOK_MIN_NS ? pause_ns : LOOK_MIN_NS);
	return found;
}

void hint_children_begin(struct hint_children *hint, const struct options *options)
{
	*hint = (struct hint_children){ .pid = options->pid };
	if (options->follow || options->cgroup || options->wait || options->all || options->quiet ||
	    options->pid_count > 1 || !hint->pid || !children_read_work(hint))
		hint->pid = 0;
	hint->before_ns = hint->now_ns;
}

void hint_children_look(struct hint_children *hint)
{
	if (hint->pid && clock_now_ns() >= hint->next_ns)
		(void)children_read_work(hint);
}

void hint_children_tell(FILE *file, struct hint_children *hint, const struct profile_facts *facts)
{
	double work_ns;

	if (!hint->pid || facts->target.pid != hint->pid)
		return;
	if (!children_read_work(hint))
		hint->count = 0;
	work_ns = (double)(hint->now_ns - hint->before_ns);
	if (work_ns >= WORK_SHARE_MIN * (double)facts->duration_ns &&
	    work_ns >= PART_MIN * (work_ns + (double)facts->cpu_ns))
		fprintf(file,
			"pieprofd: processes below %d (%zu at the end), not profiled, used %.2f s "
			"of CPU time meanwhile, and itself %.2f s: --follow profiles them, too\n",
			(int)hint->pid, hint->count, work_ns / 1e9, (double)facts->cpu_ns / 1e9);
	else if (hint->count &&
		 (double)facts->cpu_ns <= IDLE_SHARE_MAX * (double)facts->duration_ns)
		fprintf(file,
			"pieprofd: process %d has %zu child process%s, not profiled; if the work "
			"is done there, --follow profiles them, too\n",
			(int)hint->pid, hint->count, hint->count == 1 ? "" : "es");
}

/* Its first words, safe to print; the caller frees. */
static char *shown_command(pid_t pid)
{
	char *text = process_command_line(pid), *shown;

	if (text && strlen(text) > COMMAND_SHOWN)
		strcpy(text + COMMAND_SHOWN - strlen("..."), "...");
	shown = escape_printable(text ? text : "?", '\0');
	free(text);
	return shown;
}

static void name_child(const struct options *options, const struct process_status *parent,
		       pid_t child, size_t others, struct error *error)
{
	const char *command = options->action == OPTIONS_DUMP     ? "dump "
			      : options->action == OPTIONS_TOP    ? "top "
			      : options->action == OPTIONS_SERVE  ? "serve "
			      : options->action == OPTIONS_DOCTOR ? "doctor "
								  : "";
	bool follows = options->action == OPTIONS_RECORD || options->action == OPTIONS_SERVE;
	struct process_status status;
	char *shown = shown_command(child), more[64] = "";

	if (others)
		snprintf(more, sizeof(more), ", and so %s %zu more below it",
			 others == 1 ? "is" : "are", others);
	if (shown) {
		char *name = escape_printable(parent->name, '\0');

		error_set(error, EXIT_NO_TARGET, "process %d is %s, not Python; %s %d (%s) is%s",
			  (int)options->pid, name ? name : "?",
			  procfs_read_status(child, 0, &status) || status.parent == options->pid
				  ? "its child"
				  : "below it,",
			  (int)child, shown, more);
		error_set_cure(error, "pieprofd %s--pid %d%s", command, (int)child,
			       follows ? ", or --follow for all that it starts." : "");
		free(name);
	}
	free(shown);
}

void hint_python_child(const struct options *options, struct error *error)
{
	struct pid_list found = { 0 };
	struct process_status status;

	/* A process may be a Python, and refused for another reason. */
	if (error->exit_code != EXIT_NO_TARGET || options->pid <= 0 || options->pid_count > 1 ||
	    process_seems_python(options->pid) || procfs_read_status(options->pid, 0, &status) ||
	    status.thread_group != options->pid || status.state == 'Z')
		return;
	if (!descendants_read_python(options->pid, &found) && found.count)
		name_child(options, &status, found.items[0], found.count - 1, error);
	pid_list_deinit(&found);
}
