/* SPDX-License-Identifier: Apache-2.0 */
#include "attach/relief.h"

#include "attach/signal_origin.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

/* The tracer's other one is WAKE_SIGNAL. */
#define RELIEF_SIGNAL (SIGRTMIN + 6)
/* Stops answered at a time: more come by the watchdog's next look. */
#define ANSWERED_MAX 1024u
/* A stop in one word, so that it can be taken in one step: tid, signal, stop + 1. */
#define HELD_SIGNAL_SHIFT 32
#define HELD_STOP_SHIFT   40

/* A signal's handler has no argument of ours; whoever can signal us shall not choose one. */
static _Thread_local struct relief *own;

void relief_init(struct relief *relief, pid_t pid, int stop_signal)
{
	*relief = (struct relief){ .pid = pid, .stop_signal = stop_signal };
}

static uint64_t held_pack(pid_t tid, enum stop stop, int signal)
{
	return (uint32_t)tid | (uint64_t)(uint8_t)signal << HELD_SIGNAL_SHIFT |
	       (uint64_t)(stop + 1) << HELD_STOP_SHIFT;
}

static void resume_thread(pid_t tid, enum stop stop, int signal)
{
	if (stop == STOP_GROUP)
		(void)ptrace(PTRACE_LISTEN, tid, NULL, NULL);
	else
		(void)ptrace(PTRACE_CONT, tid, NULL, (void *)(long)signal);
}

static void resume_held(struct relief *relief)
{
	uint64_t held = __atomic_exchange_n(&relief->held, 0, __ATOMIC_SEQ_CST);

	if (!held)
		return;
	relief->let_go++;
	resume_thread((pid_t)(uint32_t)held, (enum stop)((held >> HELD_STOP_SHIFT) - 1),
		      (int)(uint8_t)(held >> HELD_SIGNAL_SHIFT));
}

/* The event would stop it again and again, with nobody to look. */
static int silence(const struct relief *relief, pid_t tid, int signal)
{
	siginfo_t info;

	if (signal_is_stray(tid, signal))
		return 0;
	if (signal != relief->stop_signal || ptrace(PTRACE_GETSIGINFO, tid, NULL, &info) ||
	    info.si_code < POLL_IN || info.si_code > POLL_HUP || info.si_fd < 0)
		return signal;
	/* No perf event of ours: then it was none of our stops. */
	return ioctl(info.si_fd, PERF_EVENT_IOC_DISABLE, 0) ? signal : 0;
}

static void answer_report(struct relief *relief, pid_t tid, int status)
{
	int signal;
	enum stop stop = stop_decode(status, &signal);

	if (stop == STOP_SIGNAL)
		signal = silence(relief, tid, signal);
	else
		signal = 0;
	/* Another process's thread, made by clone(2), may be among those that nobody has looked at.
	 */
	if (stop == STOP_EXEC && tid == relief->pid)
		relief->replaced = true;
	if ((stop == STOP_TRAP || stop == STOP_GROUP) && relief->born_count < RELIEF_BORN_MAX)
		relief->born[relief->born_count++] = tid;
	relief->let_go++;
	resume_thread(tid, stop, signal);
}

static void relieve(int number)
{
	struct relief *relief = own;
	int saved = errno;
	siginfo_t info;

	(void)number;
	if (!relief)
		return;
	if (__atomic_load_n(&relief->turn, __ATOMIC_SEQ_CST) ==
	    __atomic_load_n(&relief->suspected, __ATOMIC_SEQ_CST)) {
		resume_held(relief);
		/* Ends stay for the tracer: it must know them. */
		for (unsigned i = 0; i < ANSWERED_MAX; i++) {
			info.si_pid = 0;
			if (waitid(P_ALL, 0, &info, WSTOPPED | WNOHANG | __WALL | __WNOTHREAD) ||
			    !info.si_pid)
				break;
			answer_report(relief, info.si_pid, info.si_status << 8 | 0x7f);
		}
	}
	__atomic_add_fetch(&relief->answered, 1, __ATOMIC_SEQ_CST);
	errno = saved;
}

int relief_begin(struct relief *relief)
{
	/* Restarted: a system call that is slow shall not fail for it. */
	struct sigaction action = { .sa_handler = relieve, .sa_flags = SA_RESTART };
	sigset_t set;

	own = relief;
	sigfillset(&action.sa_mask);
	sigemptyset(&set);
	sigaddset(&set, RELIEF_SIGNAL);
	if (sigaction(RELIEF_SIGNAL, &action, NULL))
		return -errno;
	return -pthread_sigmask(SIG_UNBLOCK, &set, NULL);
}

void relief_end(struct relief *relief)
{
	relief_wait(relief);
	own = NULL;
}

void relief_wait(struct relief *relief)
{
	uint64_t turn = relief->turn;

	__atomic_store_n(&relief->turn, turn + 1 + (turn + 1) % 2, __ATOMIC_SEQ_CST);
}

void relief_work(struct relief *relief)
{
	uint64_t turn = relief->turn;

	__atomic_store_n(&relief->turn, turn + 1 + turn % 2, __ATOMIC_SEQ_CST);
}

void relief_hold(struct relief *relief, pid_t tid, enum stop stop, int signal)
{
	__atomic_store_n(&relief->held, held_pack(tid, stop, signal), __ATOMIC_SEQ_CST);
}

void relief_drop_signal(struct relief *relief)
{
	/* Taken meanwhile, it is 0 and stays so. */
	__atomic_and_fetch(&relief->held, ~((uint64_t)UINT8_MAX << HELD_SIGNAL_SHIFT),
			   __ATOMIC_SEQ_CST);
}

bool relief_take(struct relief *relief)
{
	return __atomic_exchange_n(&relief->held, 0, __ATOMIC_SEQ_CST) != 0;
}

void relief_ask(struct relief *relief, pthread_t tracer, uint64_t turn)
{
	__atomic_store_n(&relief->suspected, turn, __ATOMIC_SEQ_CST);
	(void)pthread_kill(tracer, RELIEF_SIGNAL);
}

uint64_t relief_turn(const struct relief *relief)
{
	return __atomic_load_n(&relief->turn, __ATOMIC_SEQ_CST);
}

uint64_t relief_answered(const struct relief *relief)
{
	return __atomic_load_n(&relief->answered, __ATOMIC_SEQ_CST);
}

bool relief_holds(const struct relief *relief)
{
	return __atomic_load_n(&relief->held, __ATOMIC_SEQ_CST) != 0;
}
