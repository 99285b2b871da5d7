/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/sample/system_time.h"

#include "common/clock.h"

/* A system call may last; while it does, the thread needs no slot for anything else. */
#define WAIT_MAX_NS (10 * NS_PER_SECOND)
/* Calls from another depth pass the same instruction: that often, then it is given up. */
#define PASSED_MAX 8

void system_time_init(struct system_time *time, struct timeline *nodes, struct timeline *threads,
		      struct thread_stacks *stacks, size_t thread)
{
	*time = (struct system_time){
		.slot = SYSTEM_TIME_NO_SLOT,
		.nodes = nodes,
		.threads = threads,
		.stacks = stacks,
		.thread = thread,
	};
}

static void system_time_charge(struct system_time *time, struct cct_node *node,
			       const struct system_time_place *place)
{
	cct_node_charge(node, TIME_SYSTEM, place->samples, place->time_ns);
	timeline_charge_span(time->nodes, node->id, place->first_ns, place->last_ns, TIME_SYSTEM,
			     place->time_ns);
	thread_stacks_charge_span(time->stacks, time->thread, node->id, place->first_ns,
				  place->last_ns, TIME_SYSTEM, place->samples, place->time_ns);
}

/* Before the thread's first instruction there is no line that asked for it. */
static void charge_birth(struct system_time *time, struct cct *cct,
			 const struct system_time_place *place)
{
	const struct frame frame = frame_of_scheduling();
	struct cct_node *node = cct_insert(cct, &frame, 1);

	system_time_charge(time, node ? node : cct_root(cct), place);
}

static void system_time_give_up(struct system_time *time, struct cct *cct, struct losses *losses,
				struct system_time_place place)
{
	system_time_charge(time, time->last ? time->last : cct_root(cct), &place);
	losses->counts[LOSS_SYSTEM_UNPLACED] += place.samples;
}

static void system_time_merge(struct system_time_place *to, const struct system_time_place *place)
{
	if (!to->samples || place->first_ns < to->first_ns)
		to->first_ns = place->first_ns;
	if (place->last_ns > to->last_ns)
		to->last_ns = place->last_ns;
	to->time_ns += place->time_ns;
	to->samples += place->samples;
}

/* False: all places are taken by others. */
static bool system_time_add(struct system_time *time, const struct system_time_place *sample)
{
	struct system_time_place *place = time->places;
	size_t i = 0;

	while (i < time->count && (place[i].ip != sample->ip || place[i].sp != sample->sp))
		i++;
	if (i == SYSTEM_TIME_PLACES)
		return false;
	if (i == time->count)
		place[time->count++] = (struct system_time_place){
			.ip = sample->ip,
			.sp = sample->sp,
		};
	system_time_merge(&place[i], sample);
	return true;
}

unsigned system_time_collect(struct system_time *time, struct tracee *tracee, struct cct *cct,
			     struct losses *losses, uint64_t *ret_time_ns)
{
	struct kernel_sample sample;
	unsigned count = 0;

	*ret_time_ns = 0;
	while (kernel_clock_next(&tracee->kernel_clock, &sample)) {
		struct system_time_place place = {
			.ip = sample.user_ip,
			.sp = sample.user_sp,
			.time_ns = time_balance_kernel(&time->balance, sample.running_ns,
						       sample.stands_for_ns),
			.samples = 1,
			.first_ns = sample.time_ns,
			.last_ns = sample.time_ns,
		};

		count++;
		timeline_charge(time->threads, time->thread, sample.time_ns, TIME_SYSTEM,
				place.time_ns);
		*ret_time_ns += place.time_ns;
		if (!sample.user_ip)
			charge_birth(time, cct, &place);
		else if (!system_time_add(time, &place))
			system_time_give_up(time, cct, losses, place);
	}
	return count;
}

bool system_time_wants_slot(const struct system_time *time)
{
	return time->slot == SYSTEM_TIME_NO_SLOT && time->count;
}

bool system_time_arm(struct system_time *time, struct tracee *tracee, int slot)
{
	size_t most = 0;
	struct system_time_place place;

	for (size_t i = 1; i < time->count; i++)
		if (time->places[i].time_ns > time->places[most].time_ns)
			most = i;
	place = time->places[most];
	time->places[most] = time->places[0];
	time->places[0] = place;
	if (breakpoint_arm(&tracee->events, (unsigned)slot, BREAKPOINT_EXECUTE, place.ip, 8))
		return false;
	time->slot = slot;
	time->passed = 0;
	return true;
}

static struct system_time_place system_time_take(struct system_time *time, size_t index)
{
	struct system_time_place place = time->places[index];

	time->places[index] = time->places[--time->count];
	return place;
}

static int system_time_disarm(struct system_time *time, struct tracee *tracee)
{
	int slot = time->slot;

	if (slot != SYSTEM_TIME_NO_SLOT)
		breakpoint_disarm(&tracee->events, (unsigned)slot);
	time->slot = SYSTEM_TIME_NO_SLOT;
	return slot;
}

int system_time_expire(struct system_time *time, struct tracee *tracee, struct cct *cct,
		       struct losses *losses, uint64_t now_ns)
{
	if (time->slot == SYSTEM_TIME_NO_SLOT || now_ns < time->places[0].first_ns + WAIT_MAX_NS)
		return SYSTEM_TIME_NO_SLOT;
	system_time_give_up(time, cct, losses, system_time_take(time, 0));
	return system_time_disarm(time, tracee);
}

enum system_return system_time_breakpoint(struct system_time *time, struct tracee *tracee,
					  const struct registers *registers)
{
	struct system_time_place *to, place;
	bool here = registers->rip == time->places[0].ip &&
		    registers->general[REGISTER_RSP] == time->places[0].sp;

	if (!here && ++time->passed <= PASSED_MAX)
		return SYSTEM_RETURN_AWAITED;
	place = system_time_take(time, 0);
	to = here ? &time->arrived : &time->missed;
	system_time_merge(to, &place);
	(void)system_time_disarm(time, tracee);
	return here ? SYSTEM_RETURN_HERE : SYSTEM_RETURN_MISSED;
}

void system_time_resumed(struct system_time *time, struct cct_node *context, struct cct *cct,
			 struct losses *losses)
{
	if (context)
		time->last = context;
	if (time->arrived.samples && context)
		system_time_charge(time, context, &time->arrived);
	else if (time->arrived.samples)
		system_time_give_up(time, cct, losses, time->arrived);
	if (time->missed.samples)
		system_time_give_up(time, cct, losses, time->missed);
	time->arrived = (struct system_time_place){ 0 };
	time->missed = (struct system_time_place){ 0 };
}

void system_time_charge_all(struct system_time *time, struct cct_node *context)
{
	time->last = context;
	while (time->count) {
		struct system_time_place place = system_time_take(time, 0);

		system_time_charge(time, context, &place);
	}
}

int system_time_cancel(struct system_time *time, struct tracee *tracee, struct cct *cct,
		       struct losses *losses)
{
	while (time->count)
		system_time_give_up(time, cct, losses, system_time_take(time, 0));
	return system_time_disarm(time, tracee);
}
