/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/sample/waiting.h"

#include "attach/procfs.h"
#include "attach/thread_schedule.h"
#include "common/random.h"
#include "daemon/sample/wait_kind.h"
#include "pyintrospect/gil.h"

#include <unistd.h>

/* Interpreters come and go, each with its own lock. */
#define LOCATE_INTERVAL_NS NS_PER_SECOND
/* Where the frame pointer may be: a stack that needs more is shown as far as it goes. */
#define FRAME_POINTER_ATTEMPTS 16

void waiting_init(struct waiting *waiting, struct target *target, struct cct *cct,
		  struct losses *losses, uint64_t seed)
{
	*waiting = (struct waiting){
		.target = target,
		.cct = cct,
		.losses = losses,
		.seed = seed | 1,
		.round = 1,
		.interval_ns = WAITING_INTERVAL_NS,
	};
}

void waiting_thread_init(struct waiting_thread *thread)
{
	*thread = (struct waiting_thread){ .fd = -1 };
}

void waiting_thread_deinit(struct waiting_thread *thread)
{
	if (thread->fd >= 0)
		close(thread->fd);
	thread->fd = -1;
}

void waiting_thread_begin(struct waiting_thread *thread, pid_t pid, pid_t tid)
{
	struct thread_schedule schedule = { 0 };
	int fd = thread->fd;

	if (fd < 0)
		fd = thread_schedule_open(pid, tid);
	waiting_thread_init(thread);
	thread->fd = fd;
	if (fd < 0 || thread_schedule_read(fd, &schedule))
		waiting_thread_deinit(thread);
	thread->began_ns = clock_now_ns();
	thread->awake_ns = schedule.run_ns + schedule.queued_ns;
}

/* What it slept in all and was not charged with yet. */
static uint64_t uncharged_ns(const struct waiting_thread *thread,
			     const struct thread_schedule *schedule, uint64_t stopped_ns)
{
	uint64_t wall_ns = clock_now_ns() - thread->began_ns;
	uint64_t awake_ns = schedule->run_ns + schedule->queued_ns - thread->awake_ns + stopped_ns +
			    thread->charged_ns;

	return wall_ns > awake_ns ? wall_ns - awake_ns : 0;
}

static bool waiting_charge_sleep(struct waiting_thread *thread, uint64_t time_ns,
				 struct waiting_charge *ret_charge)
{
	if (!time_ns)
		return false;
	thread->charged_ns += time_ns;
	thread->node->side.waiting_ns[thread->kind] += time_ns;
	*ret_charge = (struct waiting_charge){
		.node = thread->node,
		.kind = thread->kind,
		.time_ns = time_ns,
		.holds_gil = thread->holds_gil,
	};
	return true;
}

static void locate_gil(struct waiting *waiting)
{
	uint64_t now_ns = clock_now_ns();

	if (!waiting->target->runtime ||
	    (waiting->located_ns && now_ns - waiting->located_ns < LOCATE_INTERVAL_NS))
		return;
	waiting->located_ns = now_ns;
	if (gil_read_locks(waiting->target->runtime, &waiting->gil_locks))
		return; /* then it is where it was, or not known */
}

static bool waiting_same_sleep(const struct process_sleep *a, const struct process_sleep *b)
{
	return a->system_call == b->system_call && a->ip == b->ip && a->sp == b->sp;
}

static void take_registers(const struct process_sleep *sleep, struct registers *registers)
{
	*registers = (struct registers){ .rip = sleep->ip };
	registers->general[REGISTER_RSP] = sleep->sp;
}

/* Its path and what it waits for, from what was copied of it. */
static void waiting_place(struct waiting *waiting, struct waiting_thread *thread,
			  const struct process_sleep *sleep, struct capture *capture)
{
	struct cct_node *node;

	locate_gil(waiting);
	capture_find_frame_pointer(capture, waiting->target, FRAME_POINTER_ATTEMPTS);
	capture_finish(capture, waiting->target, waiting->losses);
	node = cct_insert(waiting->cct, capture->frames, capture->frame_count);
	if (!node)
		waiting->losses->counts[LOSS_TREE_FULL]++;
	thread->node = node ? node : cct_root(waiting->cct);
	thread->kind = wait_kind_of(sleep, &waiting->gil_locks);
	thread->holds_gil = capture->python.gil == GIL_HELD;
}

/* Without schedstat: read until two readings of its stack agree, in the same sleep. */
static bool look_without_schedule(struct waiting *waiting, struct waiting_thread *thread,
				  const struct tracee *tracee, struct capture *capture,
				  struct waiting_charge *ret_charge)
{
	uint64_t now_ns = clock_now_ns(), time_ns = now_ns - thread->began_ns;
	pid_t pid = waiting->target->pid;
	struct process_sleep before, after;
	struct registers registers;

	thread->began_ns = now_ns;
	if (procfs_read_sleep(pid, tracee->id.tid, &before))
		return false;
	take_registers(&before, &registers);
	capture_look(capture, waiting->target, tracee->id.tid, tracee->inner_tid, &registers);
	if (capture->python.flags & PYTHON_STACK_TORN ||
	    procfs_read_sleep(pid, tracee->id.tid, &after) || !waiting_same_sleep(&before, &after))
		return false;
	waiting_place(waiting, thread, &before, capture);
	return waiting_charge_sleep(thread, time_ns, ret_charge);
}

bool waiting_look(struct waiting *waiting, struct waiting_thread *thread,
		  const struct tracee *tracee, uint64_t stopped_ns, struct capture *capture,
		  struct waiting_charge *ret_charge)
{
	struct thread_schedule before, after;
	struct process_sleep sleep;
	struct registers registers;

	if (thread->fd < 0)
		return look_without_schedule(waiting, thread, tracee, capture, ret_charge);
	if (thread_schedule_read(thread->fd, &before))
		return false;
	if (thread->node && before.turns == thread->turns)
		return waiting_charge_sleep(thread, uncharged_ns(thread, &before, stopped_ns),
					    ret_charge);
	if (procfs_read_sleep(waiting->target->pid, tracee->id.tid, &sleep))
		return false;
	take_registers(&sleep, &registers);
	capture_take(capture, waiting->target, tracee->id.tid, tracee->inner_tid, &registers);
	/* Asleep in between, and not put on a CPU since: it slept all the time. */
	if (thread_schedule_read(thread->fd, &after) || after.turns != before.turns)
		return false;
	waiting_place(waiting, thread, &sleep, capture);
	thread->turns = after.turns;
	return waiting_charge_sleep(thread, uncharged_ns(thread, &after, stopped_ns), ret_charge);
}

bool waiting_thread_end(struct waiting *waiting, struct waiting_thread *thread,
			const struct tracee *tracee, uint64_t stopped_ns, struct capture *capture,
			struct waiting_charge *ret_charge)
{
	struct thread_schedule schedule;

	if (waiting_look(waiting, thread, tracee, stopped_ns, capture, ret_charge))
		return true;
	if (thread->fd < 0 || !thread->node || thread_schedule_read(thread->fd, &schedule))
		return false;
	return waiting_charge_sleep(thread, uncharged_ns(thread, &schedule, stopped_ns),
				    ret_charge);
}

/* From half the average to one and a half of it: no rhythm of the target's is kept step with. */
static uint64_t random_interval_ns(struct waiting *waiting)
{
	return waiting->interval_ns / 2 + random_below(&waiting->seed, waiting->interval_ns);
}

uint64_t waiting_next_ns(struct waiting *waiting, uint64_t began_ns, bool round_ended)
{
	uint64_t now_ns = clock_now_ns(), due_ns;
	uint64_t next_ns = began_ns + (uint64_t)((double)(now_ns - began_ns) / WAITING_SHARE);

	if (!round_ended)
		return next_ns;
	due_ns = waiting->round_ns + random_interval_ns(waiting);
	waiting->round++;
	waiting->round_ns = due_ns > now_ns ? due_ns : now_ns;
	return next_ns > due_ns ? next_ns : due_ns;
}
