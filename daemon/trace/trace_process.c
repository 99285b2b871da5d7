/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/trace/trace_process.h"

#include "common/clock.h"
#include "daemon/session/process_search.h"
#include "daemon/trace/path_reader.h"
#include "daemon/trace/rank.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

void trace_process_add(struct trace_process *process, const struct trace_event *event)
{

	process->calls += event->kind == TRACE_CALL;
	process->span_events += event->kind == TRACE_SPAN || event->kind == TRACE_COUNTER;
	process->open_calls += event->kind == TRACE_CALL && event->flags & TRACE_OPEN;
	if (*process->events_left) {
		--*process->events_left;
		trace_file_add(&process->file, event);
	} else {
		process->file.left_out++;
	}
}

static void take_event(void *context, const struct trace_event *event)
{
	trace_process_add(context, event);
}

void trace_process_look_at_counters(struct trace_process *process)
{
	const struct counter_taker taker = { take_event, process };

	counter_watch_look(&process->counters, process->pid, clock_now_ns(), &taker);
}

void trace_process_end_counters(struct trace_process *process)
{
	const struct counter_taker taker = { take_event, process };

	counter_watch_end(&process->counters, &taker);
}

static void name_process(struct trace_process *process)
{
	char *command = process_command_line(process->pid);

	if (command && command[0])
		snprintf(process->name, sizeof(process->name), "%s", command);
	else if (!process->name[0])
		snprintf(process->name, sizeof(process->name), "process %d", (int)process->pid);
	free(command);
}

void trace_process_look_at_rank(struct trace_process *process)
{
	struct rank rank;

	if (process->rank_known || rank_read(process->pid, &rank))
		return;
	process->rank_known = true;
	process->rank = rank.number;
	process->size = rank.size;
}

void trace_process_set_library(struct trace_process *process, const struct mpi_library *library)
{
	process->library = library;
	mpi_decoder_init(&process->decoder, library, take_event, process);
}

int trace_process_create(pid_t pid, uint64_t start_time, const struct mpi_library *library,
			 uint64_t *events_left, struct trace_process **ret_process)
{
	struct trace_process *process = calloc(1, sizeof(*process));
	int error = process ? trace_file_open(&process->file) : -ENOMEM;

	if (error) {
		free(process);
		return error;
	}
	process->pid = pid;
	process->start_time = start_time;
	if (library)
		trace_process_set_library(process, library);
	process->rank = -1;
	process->events_left = events_left;
	name_process(process);
	trace_process_look_at_rank(process);
	*ret_process = process;
	return 0;
}

void trace_process_destroy(struct trace_process *process)
{
	function_watch_deinit(&process->functions);
	counter_watch_deinit(&process->counters);
	path_reader_destroy(process->path_reader);
	mpi_decoder_deinit(&process->decoder);
	trace_file_close(&process->file);
	free(process);
}
