/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/trace/span_watch.h"

#include "common/clock.h"
#include "daemon/trace/span_site.h"

#include <errno.h>
#include <string.h>

/* Nothing is sought in the process, or written to it. */
static int set_kernel(struct span_watch *watch, enum span_kind kind,
		      const struct span_process *process, struct error *error)
{
	int failure =
		kind == SPAN_SWITCH
			? mpi_probes_add_switches(process->probes, process->slot, process->pid)
			: mpi_probes_add_faults(process->probes, process->slot, process->pid);

	watch->state = failure ? SPAN_REFUSED : SPAN_SET;
	if (failure)
		error_set(error, EXIT_INTERNAL, "%s of process %d are not noted: %s",
			  kind == SPAN_SWITCH ? "context switches" : "page faults",
			  (int)process->pid, strerror(-failure));
	return failure;
}

static int set(struct span_watch *watch, const struct span *span, unsigned number,
	       const struct span_process *process, const struct mapping_list *mappings,
	       struct error *error)
{
	struct span_site site;
	int failure =
		span_site_find(span, process->pid, process->impersonator, mappings, &site, error);

	if (failure) {
		watch->state = failure == -ENODATA ? SPAN_SOUGHT : SPAN_REFUSED;
		return failure;
	}
	for (unsigned i = 0; i < site.count && !failure; i++)
		failure = mpi_probes_add_span(process->probes, process->slot, process->pid, site.fd,
					      &site.places[i], number);
	watch->limit = site.limit;
	watch->looked_ns = clock_now_ns();
	watch->state = failure ? SPAN_REFUSED : SPAN_SET;
	span_site_deinit(&site);
	if (!failure)
		return 0;
	mpi_probes_remove_span(process->probes, process->slot, number);
	error_set(error, EXIT_PERMISSION, "the kernel sets no probe at %s in process %d: %s",
		  span->name, (int)process->pid, strerror(-failure));
	error_set_cure(error, "Its first instruction may be one that cannot be probed.");
	return failure;
}

int span_watches_set(struct span_watch *watches, const struct span_list *list,
		     const struct span_process *process, const struct mapping_list *mappings,
		     struct error *error)
{
	int result = 0;

	for (unsigned i = 0; i < list->count; i++) {
		struct error refusal;
		int failure;

		/* Functions of Python have a watch of their own. */
		if (watches[i].state != SPAN_SOUGHT || list->items[i].kind == SPAN_PYTHON)
			continue;
		failure =
			span_kind_is_kernel(list->items[i].kind)
				? set_kernel(&watches[i], list->items[i].kind, process, &refusal)
				: set(&watches[i], &list->items[i], i, process, mappings, &refusal);
		if (!failure || (result && failure == -ENODATA))
			continue;
		result = failure;
		*error = refusal;
	}
	return result;
}

void span_watches_look(struct span_watch *watches, const struct span_list *list,
		       const struct span_process *process, uint64_t now_ns)
{
	for (unsigned i = 0; i < list->count; i++) {
		struct span_watch *watch = &watches[i];
		uint64_t since_ns = now_ns - watch->looked_ns;
		struct span_counts counts;

		/* The program in the kernel limits those itself. */
		if (watch->state != SPAN_SET || since_ns < SPAN_RATE_NS ||
		    span_kind_is_kernel(list->items[i].kind) || list->items[i].kind == SPAN_PYTHON)
			continue;
		counts = mpi_probes_span_counts(process->probes, process->slot, i);
		if ((counts.begun - watch->begun) * NS_PER_SECOND > SPAN_RATE_MAX * since_ns) {
			watch->state = SPAN_RELIEVED;
			watch->relieved_ns = now_ns;
			mpi_probes_remove_span(process->probes, process->slot, i);
		}
		watch->begun = counts.begun;
		watch->looked_ns = now_ns;
	}
}

void span_watches_end(struct span_watch *watches, const struct span_list *list,
		      const struct span_process *process)
{
	for (unsigned i = 0; i < list->count; i++)
		watches[i].counts = mpi_probes_span_counts(process->probes, process->slot, i);
}
