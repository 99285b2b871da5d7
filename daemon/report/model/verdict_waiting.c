/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/report/encode/figure.h"
#include "daemon/report/model/verdict.h"
#include "daemon/report/model/verdict_parts.h"
#include "daemon/report/model/wait_place.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Of the time watched, at least a second: threads without a CPU, and a process that slept. */
#define QUEUED_SHARE_MIN 0.1
#define ASLEEP_SHARE_MAX 0.25
#define DURATION_MIN_NS  1e9
/* With less of its time idle, a machine is busy. */
#define IDLE_SHARE_MIN 0.1
/* A process that used a CPU for less of the time is one that waits. */
#define BUSY_SHARE_MIN 0.5
/* A place, or the GIL, is worth a sentence from this share of the time on. */
#define PLACE_SHARE_MIN 0.05
#define PLACES_SHOWN    4
/* There has to be room for the places. */
#define DEADLOCK_SENTENCES 6

/* "a lock" */
static const char *const kind_words[WAIT_KIND_COUNT] = {
	[WAIT_LOCK] = "a lock",           [WAIT_GIL] = "the GIL",
	[WAIT_IO] = "input or output",    [WAIT_SLEEP] = "a time to pass",
	[WAIT_CHILD] = "another process", [WAIT_OTHER] = "something unknown",
};

static const char *const kind_headlines[WAIT_KIND_COUNT] = {
	[WAIT_LOCK] = "it mostly waited: for a lock",
	[WAIT_GIL] = "it mostly waited: for the GIL",
	[WAIT_IO] = "it mostly waited: for input or output",
	[WAIT_SLEEP] = "it mostly waited: for a time that it has set itself",
	[WAIT_CHILD] = "it mostly waited: for another process",
	[WAIT_OTHER] = "it mostly waited: for what is not known",
};

/* NULL: as the kind says. */
static const char *const role_words[WAIT_ROLE_COUNT] = {
	[WAIT_ROLE_SLEEP] = "a time that the program has set itself",
	[WAIT_ROLE_EVENT] = "another thread to say that something is so",
	[WAIT_ROLE_RESULT] = "another thread's or process's result",
	[WAIT_ROLE_END] = "another thread to end",
	[WAIT_ROLE_QUEUE] = "a queue without work",
	[WAIT_ROLE_POOL] = "a pool without work",
	[WAIT_ROLE_LOOP] = "an event loop with nothing ready",
	[WAIT_ROLE_SERVER] = "a server without a client",
	[WAIT_ROLE_NATIVE] = "native code without Python",
};

/* In place of a call that blocks an event loop. */
static const char *const loop_advice[WAIT_KIND_COUNT] = {
	[WAIT_LOCK] = "Use asyncio.Lock, or await asyncio.to_thread().",
	[WAIT_GIL] = "Do the work in another process.",
	[WAIT_IO] = "Use an asynchronous client, or await asyncio.to_thread().",
	[WAIT_SLEEP] = "Await asyncio.sleep() instead.",
	[WAIT_CHILD] = "Use asyncio.create_subprocess_exec(), or await asyncio.to_thread().",
	[WAIT_OTHER] = "Await asyncio.to_thread() of it.",
};

static bool is_noteworthy(uint64_t ns, const struct profile_facts *facts)
{
	return facts->duration_ns && (double)ns >= PLACE_SHARE_MIN * (double)facts->duration_ns;
}

/* "3.00 s (30.1% of the time)" or "21.0 s (as of 7 threads all the time)" */
struct amount {
	char text[96];
};

static struct amount amount_of(uint64_t ns, const struct profile_facts *facts)
{
	double threads = (double)ns / (double)facts->duration_ns;
	struct amount amount;

	if (threads < 1.05)
		snprintf(amount.text, sizeof(amount.text), "%s (%.0f%% of the time)",
			 figure_ns(ns).text, fmin(100 * threads, 100));
	else
		snprintf(amount.text, sizeof(amount.text), "%s (as of %.*f threads all the time)",
			 figure_ns(ns).text, fabs(threads - round(threads)) < 0.05 ? 0 : 1,
			 threads);
	return amount;
}

/* It may be in no table: a line further out on the stack than the one that slept. */
static void show_frame(struct verdict *verdict, const struct profile_frame *frame)
{
	const struct profile_line line = {
		.file = frame ? frame->file : NULL,
		.line = frame ? frame->line : 0,
		.function = frame ? frame->function : NULL,
		.source = frame ? frame->source : NULL,
		.indent = -1,
		.column = -1,
		.end_column = -1,
	};

	if (!frame || verdict->place_count == VERDICT_PLACES_MAX)
		return;
	verdict_show(verdict, &line);
	if (!verdict->line)
		verdict->line = &verdict->places[verdict->place_count - 1].line;
}

static void say_place(struct verdict *verdict, const struct wait_place *place,
		      const struct profile_facts *facts)
{
	enum wait_kind kind = wait_place_kind(place);

	show_frame(verdict, place->frame);
	if (place->role == WAIT_ROLE_BLOCKED_LOOP)
		verdict_say(verdict,
			    "An event loop was blocked for %s by this line, which waits for %s; "
			    "all other tasks of the loop wait meanwhile. %s",
			    amount_of(place->all_ns, facts).text, kind_words[kind],
			    loop_advice[kind]);
	else
		verdict_say(verdict, "%s waiting for %s%s.", amount_of(place->all_ns, facts).text,
			    role_words[place->role] ? role_words[place->role] : kind_words[kind],
			    place->role == WAIT_ROLE_NONE && kind == WAIT_LOCK && !facts->deadlock
				    ? ": hold it for less time, or guard less with it"
				    : "");
}

static bool say_gil(struct verdict *verdict, const struct profile *profile)
{
	const struct profile_facts *facts = &profile->facts;
	uint64_t waited_ns = profile->side.waiting_ns[WAIT_GIL];
	const struct profile_thread *holder = NULL;

	if (!is_noteworthy(waited_ns, facts))
		return false;
	for (size_t i = 0; i < facts->thread_count; i++) {
		const struct profile_thread *thread = &facts->threads[i];

		if (thread->gil_ns + thread->gil_asleep_ns &&
		    (!holder || thread->gil_ns + thread->gil_asleep_ns >
					holder->gil_ns + holder->gil_asleep_ns))
			holder = thread;
	}
	if (!holder || !facts->gil_known)
		verdict_say(verdict, "Threads waited for the GIL for %s.",
			    amount_of(waited_ns, facts).text);
	else if (is_noteworthy(holder->gil_asleep_ns, facts))
		verdict_say(verdict,
			    "Threads waited for the GIL for %s; thread %d (%s) slept with it for "
			    "%s: native "
			    "code there waits and does not give it up.",
			    amount_of(waited_ns, facts).text, (int)holder->tid, holder->name,
			    figure_ns(holder->gil_asleep_ns).text);
	else
		verdict_say(verdict,
			    "Threads waited for the GIL for %s; code with it ran for %s of the "
			    "time, most of "
			    "it in thread %d (%s).",
			    amount_of(waited_ns, facts).text,
			    figure_part(profile->gil_ns, facts->duration_ns).text, (int)holder->tid,
			    holder->name);
	return true;
}

/* How many threads, nearly, and in what. */
static void say_idle(struct verdict *verdict, const struct wait_place *places, size_t count,
		     const struct profile_facts *facts)
{
	uint64_t idle_ns[WAIT_ROLE_COUNT] = { 0 };
	char words[512];
	size_t used = 0;

	for (size_t i = 0; i < count; i++)
		if (wait_role_is_idle(places[i].role))
			idle_ns[places[i].role] += places[i].all_ns;
	for (unsigned role = 0; role < WAIT_ROLE_COUNT && used < sizeof(words); role++)
		if (is_noteworthy(idle_ns[role], facts))
			used += (size_t)snprintf(words + used, sizeof(words) - used, "%s%s, %s",
						 used ? "; " : "", role_words[role],
						 amount_of(idle_ns[role], facts).text);
	if (used)
		verdict_say(verdict, "Idle, which slows nothing down: %s.", words);
}

/* What follows "without a CPU": the cause, as far as the control group and the machine tell it. */
struct cause {
	char text[256];
};

static struct cause cause_without_cpu(const struct profile_facts *facts)
{
	struct figure idle = figure_part(facts->machine_idle_ns, facts->machine_ns);
	struct cause cause;

	if (is_noteworthy(facts->throttled_ns, facts))
		snprintf(cause.text, sizeof(cause.text),
			 ": their control group had used up its quota, and was throttled for %s "
			 "(throttled in cpu.stat; the quota is cpu.max, or cpu.cfs_quota_us).",
			 figure_ns(facts->throttled_ns).text);
	else if (!facts->machine_ns)
		snprintf(cause.text, sizeof(cause.text),
			 ": the machine is busy, or the control group has used up its share.");
	else if ((double)facts->machine_idle_ns < IDLE_SHARE_MIN * (double)facts->machine_ns)
		snprintf(cause.text, sizeof(cause.text),
			 ": the machine is busy, its processors were idle for %s of the time, and "
			 "the control group was not throttled.",
			 idle.text);
	else
		snprintf(cause.text, sizeof(cause.text),
			 ", though the machine's processors were idle for %s of the time, and the "
			 "control group was not throttled: they may be bound to few of them "
			 "(taskset, cpuset), or have a low weight.",
			 idle.text);
	return cause;
}

/* What a slow program waits for is not in its CPU time. */
static void say_queued(struct verdict *verdict, const struct profile_facts *facts)
{
	double duration_ns = (double)facts->duration_ns, queued_ns = (double)facts->queued_ns;

	if (!facts->queued_known || facts->target_exited || duration_ns < DURATION_MIN_NS)
		return;
	if (queued_ns < QUEUED_SHARE_MIN * duration_ns || facts->queued_ns * 2 < facts->cpu_ns)
		return;
	if (queued_ns >= BUSY_SHARE_MIN * duration_ns && facts->queued_ns > facts->cpu_ns &&
	    verdict->kind > VERDICT_PATTERN && verdict->kind < VERDICT_DEADLOCK) {
		verdict->kind = VERDICT_STARVED;
		verdict->headline = "it was ready to run, but mostly had no CPU";
	}
	verdict_say(verdict, "Its threads were ready to run for %s without a CPU%s%s",
		    figure_ns(facts->queued_ns).text,
		    profile_has_no_gil(facts) ? "" : ", which is not the GIL",
		    cause_without_cpu(facts).text);
}

static void say_asleep(struct verdict *verdict, const struct profile_facts *facts)
{
	double duration_ns = (double)facts->duration_ns;

	if (!facts->queued_known || facts->target_exited || duration_ns < DURATION_MIN_NS ||
	    facts->waits)
		return;
	if ((double)facts->cpu_ns + (double)facts->queued_ns >= ASLEEP_SHARE_MAX * duration_ns)
		return;
	/* What used the little CPU time is not why it is slow. */
	if (verdict->kind == VERDICT_UNSAMPLED)
		verdict->headline = "it slept, and used next to no CPU time";
	else if (verdict->kind > VERDICT_PATTERN && verdict->kind < VERDICT_DEADLOCK)
		verdict->headline = "it mostly slept; --idle says what for";
	verdict_say(verdict,
		    "It used a CPU for %s of the time and slept otherwise: --mode time --idle "
		    "shows what for, and pieprofd dump shows where it is now.",
		    figure_part(facts->cpu_ns, facts->duration_ns).text);
}

static const char *waiting_headline(const struct wait_place *first)
{
	switch (first->role) {
	case WAIT_ROLE_BLOCKED_LOOP:
		return "an event loop was blocked by a call that waits";
	case WAIT_ROLE_EVENT:
	case WAIT_ROLE_RESULT:
	case WAIT_ROLE_END:
		return "it mostly waited: for another thread or process";
	case WAIT_ROLE_LOOP:
		return "it was idle: its event loop had nothing that was ready";
	default:
		return wait_role_is_idle(first->role) ? "it was idle: its threads waited for work"
						      : kind_headlines[wait_place_kind(first)];
	}
}

/* The place that the headline is of: of those that are idle the longest. NULL: none. */
static const struct wait_place *first_place(const struct wait_place *places, size_t count,
					    const struct profile_facts *facts)
{
	const struct wait_place *first = NULL;

	for (size_t i = 0; i < count; i++)
		if (is_noteworthy(places[i].all_ns, facts) &&
		    (!first ||
		     (wait_role_is_idle(first->role) && places[i].all_ns > first->all_ns)))
			first = &places[i];
	return first;
}

static void say_places(struct verdict *verdict, const struct wait_place *places, size_t count,
		       const struct profile_facts *facts, enum wait_role from, enum wait_role to)
{
	for (size_t i = 0; i < count && verdict->place_count < PLACES_SHOWN; i++)
		if (places[i].role >= from && places[i].role <= to &&
		    is_noteworthy(places[i].all_ns, facts))
			say_place(verdict, &places[i], facts);
}

/* A sentence each. */
static void say_deadlock(struct verdict *verdict, const char *words)
{
	verdict->kind = VERDICT_DEADLOCK;
	verdict->headline = "probable deadlock: threads wait for each other's locks";
	while (*words && verdict->sentence_count < DEADLOCK_SENTENCES) {
		size_t length = strcspn(words, "\n");

		verdict_say(verdict, "%.*s", (int)length, words);
		words += length + (words[length] == '\n');
	}
	if (*words)
		verdict_say(verdict, "There are more: pieprofd dump shows them.");
}

static void find_waiting(const struct profile *profile, const struct wait_place *places,
			 size_t count, struct verdict *verdict)
{
	const struct profile_facts *facts = &profile->facts;
	const struct wait_place *first = first_place(places, count, facts);

	verdict->kind = VERDICT_WAITING;
	verdict->headline = "it slept, a little here and there";
	if (first)
		verdict->headline = waiting_headline(first);
	if (facts->deadlock)
		say_deadlock(verdict, facts->deadlock);
	say_places(verdict, places, count, facts, 0, WAIT_ROLE_SLEEP);
	if (say_gil(verdict, profile) && !facts->deadlock &&
	    (!first || first->role > WAIT_ROLE_SLEEP))
		verdict->headline = kind_headlines[WAIT_GIL];
	else if (!facts->deadlock && first && wait_role_is_idle(first->role))
		verdict->kind = VERDICT_IDLE;
	say_places(verdict, places, count, facts, WAIT_ROLE_EVENT, WAIT_ROLE_END);
	say_idle(verdict, places, count, facts);
	if (verdict->kind == VERDICT_IDLE) {
		show_frame(verdict, first->frame);
		if (first->role == WAIT_ROLE_LOOP)
			verdict_say(verdict, "What its tasks wait for is shown by pieprofd dump.");
	}
	verdict_say(verdict, "It used a CPU for %s of the time.",
		    figure_part(facts->cpu_ns, facts->duration_ns).text);
	say_queued(verdict, facts);
	verdict_add_finding(profile, verdict);
}

bool verdict_find_waiting(const struct profile *profile, struct verdict *verdict)
{
	const struct profile_facts *facts = &profile->facts;
	struct wait_place *places;
	size_t count = 0;

	if (!facts->waits || !side_time_waiting_ns(&profile->side) ||
	    (!facts->deadlock && (double)(facts->cpu_ns + facts->queued_ns) >=
					 BUSY_SHARE_MIN * (double)facts->duration_ns))
		return false;
	places = wait_places_find(profile, &count);
	if (!places)
		return false;
	find_waiting(profile, places, count, verdict);
	free(places);
	return true;
}

void verdict_add_waiting(const struct profile *profile, struct verdict *verdict)
{
	const struct profile_facts *facts = &profile->facts;
	struct wait_place *places = NULL;
	size_t count = 0;

	if (facts->waits && facts->samples)
		places = wait_places_find(profile, &count);
	if (places) {
		say_places(verdict, places, count, facts, 0, WAIT_ROLE_NONE);
		say_gil(verdict, profile);
	}
	free(places);
	say_queued(verdict, facts);
	say_asleep(verdict, facts);
}
