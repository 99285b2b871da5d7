/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/trace/function_watch.h"

#include "common/clock.h"
#include "common/hash.h"
#include "daemon/capture/target.h"
#include "pyintrospect/code_at.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#define SLOTS_FIRST 512

struct function_known {
	uint64_t code, identity; /* code 0: a free slot */
	uint32_t path;           /* CALL_PATH_NONE: not wanted */
	bool unreadable;
};

/* ---- code objects ---- */

static struct function_known *slot_of(const struct function_watch *watch, uint64_t code,
				      uint64_t identity)
{
	size_t at = hash_combine(code, identity) % watch->known_slots;

	while (watch->known[at].code &&
	       (watch->known[at].code != code || watch->known[at].identity != identity))
		at = (at + 1) % watch->known_slots;
	return &watch->known[at];
}

static bool grow(struct function_watch *watch)
{
	struct function_known *old = watch->known;
	size_t old_slots = watch->known_slots;

	if (2 * watch->known_count < old_slots)
		return true;
	/* As many as the program in the kernel knows at a time, and what they replaced. */
	if (old_slots >= 4 * (size_t)FUNCTION_CODES_MAX)
		return false;
	watch->known_slots = old_slots ? 2 * old_slots : SLOTS_FIRST;
	watch->known = calloc(watch->known_slots, sizeof(watch->known[0]));
	if (!watch->known) {
		watch->known = old;
		watch->known_slots = old_slots;
		return false;
	}
	for (size_t i = 0; i < old_slots; i++)
		if (old[i].code)
			*slot_of(watch, old[i].code, old[i].identity) = old[i];
	free(old);
	return true;
}

void function_watch_code(struct function_watch *watch, const struct function_code_record *record)
{
	struct function_known known = { .code = record->code, .identity = record->identity };
	const struct python_code *code;
	struct function_known *slot;

	if (!watch->target || !record->code || !grow(watch))
		return;
	slot = slot_of(watch, record->code, record->identity);
	if (!slot->code) {
		known.unreadable = code_at(watch->target->runtime, record->code, &code) != 0;
		/* The path is the function itself, by its first line. */
		if (!known.unreadable &&
		    function_choice_fits(watch->choice, code->function, code->file))
			known.path = call_paths_add(watch->paths, CALL_PATH_NONE, code->function,
						    code->file, code->first_line);
		*slot = known;
		watch->known_count++;
	}
	if (function_probes_decide(watch->probes, record,
				   slot->path == CALL_PATH_NONE ? FUNCTION_UNWANTED
								: FUNCTION_WANTED))
		watch->undecided++;
}

bool function_watch_event(struct function_watch *watch, const struct function_record *record,
			  struct trace_event *ret_event)
{
	const struct function_known *known =
		watch->known_slots ? slot_of(watch, record->code, record->identity) : NULL;

	if (!known || !known->code || known->unreadable) {
		watch->unknown++;
		return false;
	}
	if (known->path == CALL_PATH_NONE || record->end_ns < record->begin_ns)
		return false;
	*ret_event = (struct trace_event){
		.begin_ns = record->begin_ns,
		.end_ns = record->end_ns,
		.order = record->depth, /* of those that begin at once */
		.wait_ns = record->begin_ns,
		.thread = record->tid,
		.kind = TRACE_SPAN,
		.function = (uint16_t)watch->span,
		.flags = (record->flags & (FUNCTION_IS_OPEN | FUNCTION_LOST) ? TRACE_OPEN : 0) |
			 (record->flags & FUNCTION_BEFORE ? TRACE_BEFORE : 0) |
			 (record->flags & FUNCTION_RAISED ? TRACE_RAISED : 0),
		.peer = -1,
		.tag = (int32_t)known->path,
		.path = known->path,
	};
	return true;
}

/* ---- probes ---- */

/* From one moment on, however long it takes to set all probes, or to take them out. */
static int record(struct function_watch *watch, uint32_t epoch)
{
	const struct function_choice *choice = watch->choice;
	struct function_config config = watch->site.config;

	config.epoch = epoch;
	config.depth_max = choice->depth_max ? choice->depth_max : UINT_MAX;
	config.least_ns = choice->least_ns;
	config.begin_ns = clock_now_ns();
	watch->since_ns = config.begin_ns;
	return function_probes_configure(watch->probes, watch->slot, &config);
}

static int set(struct function_watch *watch)
{
	int error =
		function_probes_set(watch->probes, watch->slot, watch->target->pid, watch->site.fd,
				    watch->site.places, watch->site.count, watch->span);

	if (!error)
		error = record(watch, ++watch->epoch);
	if (error)
		function_probes_remove(watch->probes, watch->slot);
	watch->state = error ? FUNCTIONS_REFUSED : FUNCTIONS_SET;
	return error;
}

/* 0: it has ended. */
static uint64_t cpu_ns_of(pid_t pid)
{
	clockid_t clock;

	return clock_getcpuclockid(pid, &clock) ? 0 : clock_read_ns(clock);
}

int function_watch_start(struct function_watch *watch, const struct function_process *process,
			 struct error *error)
{
	int failure;

	*watch = (struct function_watch){
		.state = FUNCTIONS_REFUSED,
		.probes = process->probes,
		.target = process->target,
		.paths = process->paths,
		.choice = process->choice,
		.trap_cost = process->trap_cost,
		.slot = process->slot,
		.span = process->span,
		.site = { .fd = -1 },
	};
	failure = function_site_find(process->target, &watch->site, error);
	if (failure)
		return failure;
	failure = set(watch);
	watch->met_ns = watch->since_ns;
	watch->met_cpu_ns = cpu_ns_of(process->target->pid);
	if (!failure)
		return 0;
	error_set(error, EXIT_PERMISSION,
		  "the kernel sets no probes in the interpreter of process %d: %s",
		  (int)process->target->pid, strerror(-failure));
	error_set_cure(error, "Run it as root, or with CAP_BPF, CAP_PERFMON and CAP_SYS_PTRACE; "
			      "before Linux 6.10, with CAP_SYS_ADMIN.");
	return failure;
}

void function_watch_release(struct function_watch *watch)
{
	if (watch->target)
		function_site_deinit(&watch->site);
	watch->target = NULL;
	watch->probes = NULL;
}

void function_watch_deinit(struct function_watch *watch)
{
	function_watch_release(watch);
	free(watch->known);
	*watch = (struct function_watch){ 0 };
}

/* ---- what they cost ---- */

static void account(struct function_watch *watch)
{
	const struct function_counts counts = function_probes_counts(watch->probes, watch->slot);

	watch->spent_ns = trap_cost_of(watch->trap_cost, &counts);
}

/* CPU time of the process since it is watched: the probes take of that. */
static uint64_t own_ns(const struct function_watch *watch)
{
	uint64_t now_ns = cpu_ns_of(watch->target->pid);

	return now_ns > watch->met_cpu_ns + watch->spent_ns
		       ? now_ns - watch->met_cpu_ns - watch->spent_ns
		       : 0;
}

static uint64_t allowed_ns(const struct function_watch *watch)
{
	double share =
		watch->choice->max_overhead > 0 ? watch->choice->max_overhead : FUNCTION_OVERHEAD;

	return (uint64_t)((double)own_ns(watch) * share);
}

static void pause_probes(struct function_watch *watch)
{
	uint64_t began_ns = watch->since_ns;

	/* Of a process that has a place, that cannot fail. */
	(void)record(watch, 0);
	watch->cut_ns = watch->since_ns;
	function_probes_remove(watch->probes, watch->slot);
	watch->observed_ns += watch->cut_ns - began_ns;
	watch->state = FUNCTIONS_PAUSED;
}

/* What a pause has cut off, once nobody is in the probes. */
static void take_cut(struct function_watch *watch, const struct mpi_taker *taker, bool wait)
{
	if (!watch->cut_ns || !function_probes_are_out(watch->probes, watch->slot, wait))
		return;
	/* What was recorded of them comes first. */
	mpi_probes_read(watch->probes, taker, 0);
	function_probes_read_open(watch->probes, watch->slot, watch->epoch, taker, watch->cut_ns);
	watch->cut_ns = 0;
}

void function_watch_look(struct function_watch *watch, const struct mpi_taker *taker)
{
	if (watch->state == FUNCTIONS_SET) {
		account(watch);
		if (watch->choice->max_overhead >= 1 ||
		    watch->spent_ns <= allowed_ns(watch) + FUNCTION_CREDIT_NS)
			return;
		watch->pauses++;
		pause_probes(watch);
	} else if (watch->state == FUNCTIONS_PAUSED) {
		take_cut(watch, taker, false);
		account(watch);
		/* It may have ended, and its probes with it. */
		if (!watch->cut_ns && allowed_ns(watch) >= watch->spent_ns && set(watch))
			watch->state = FUNCTIONS_PAUSED;
	}
}

void function_watch_stop(struct function_watch *watch)
{
	if (watch->ended_ns)
		return;
	watch->ended_ns = clock_now_ns();
	if (watch->state != FUNCTIONS_SET)
		return;
	pause_probes(watch);
	watch->ended_ns = watch->cut_ns;
}

void function_watch_end(struct function_watch *watch, const struct mpi_taker *taker)
{
	function_watch_stop(watch);
	if (!watch->probes)
		return;
	take_cut(watch, taker, true);
	account(watch);
	watch->counts = function_probes_counts(watch->probes, watch->slot);
}
