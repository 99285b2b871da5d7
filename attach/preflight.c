/* SPDX-License-Identifier: Apache-2.0 */
#include "attach/preflight.h"

#include "attach/call_filter.h"
#include "attach/procfs.h"
#include "attach/thread_events.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Default action: ignore. So nothing happens when one is delivered after the daemon's death. */
static const int harmless_signals[] = { SIGURG, SIGWINCH };

#define HARMLESS_COUNT    (sizeof(harmless_signals) / sizeof(*harmless_signals))
#define THREADS_LOOKED_AT 4096
#define SIGNALS           64
#define PROBE_PERIOD_NS   1000000000

/* Where the package puts it; .packaging/container/seccomp.json. */
#define SECCOMP_PROFILE "/usr/share/pieprofd/seccomp.json"

/* CAP_PERFMON of linux/capability.h, absent from older headers. */
#define CAPABILITY_PERFMON 38

static bool have_capability(const struct process_status *self, unsigned capability)
{
	return self->capabilities_effective >> capability & 1;
}

static void explain_tracer(pid_t pid, pid_t tracer, struct error *error)
{
	struct process_status status;
	const char *name = procfs_read_status(tracer, 0, &status) ? "?" : status.name;

	error_set(error, EXIT_PERMISSION, "process %d is already traced by process %d (%s)", pid,
		  tracer, name);
	error_set_cure(
		error,
		"A process can have one tracer at a time: end process %d (a debugger, strace, or "
		"another profiler), then try again.",
		tracer);
}

/* A process that has let go of its memory is refused like one that may not be looked at. */
static bool is_exiting(pid_t pid)
{
	char path[PROCFS_PATH_SIZE], link;

	procfs_living_path(path, pid, "exe");
	return readlink(path, &link, sizeof(link)) < 0 && (errno == ENOENT || errno == ESRCH);
}

void preflight_explain_seize(pid_t pid, int failure, struct error *error)
{
	struct process_status target, self;
	int yama;

	if (failure == -ESRCH || procfs_read_status(pid, 0, &target) || is_exiting(pid)) {
		error_set(error, EXIT_NO_TARGET, "there is no process %d", pid);
		error_set_cure(error,
			       "Check the id with `ps`; in a container, the process must be in the "
			       "same pid "
			       "namespace or one below (docker run --pid, shareProcessNamespace).");
		return;
	}
	if (target.tracer && target.tracer != getpid()) {
		explain_tracer(pid, target.tracer, error);
		return;
	}
	if (procfs_read_status(getpid(), 0, &self)) {
		error_set(error, EXIT_INTERNAL, "/proc is not readable");
		return;
	}
	yama = procfs_read_setting("/proc/sys/kernel/yama/ptrace_scope", 0);
	if (!have_capability(&self, CAP_SYS_PTRACE) &&
	    (self.uid[1] != target.uid[0] || self.uid[1] != target.uid[1] ||
	     self.uid[1] != target.uid[2])) {
		error_set(error, EXIT_PERMISSION, "process %d belongs to user %u, this is user %u",
			  pid, target.uid[0], self.uid[1]);
		error_set_cure(error,
			       "Run as that user or as root (sudo), or grant CAP_SYS_PTRACE.");
	} else if (yama >= 3) {
		error_set(error, EXIT_PERMISSION,
			  "attaching is switched off on this machine (Yama ptrace_scope %d)", yama);
		error_set_cure(
			error,
			"It can be changed only by a reboot without kernel.yama.ptrace_scope=3.");
	} else if (yama && !have_capability(&self, CAP_SYS_PTRACE)) {
		error_set(error, EXIT_PERMISSION,
			  "the kernel lets only %s attach to process %d (Yama ptrace_scope %d)",
			  yama == 1 ? "its ancestors" : "processes with CAP_SYS_PTRACE", pid, yama);
		error_set_cure(
			error,
			"Run as root (sudo), or allow it: sysctl kernel.yama.ptrace_scope=0");
	} else {
		error_set(error, EXIT_PERMISSION,
			  "the kernel does not let us attach to process %d: %s", pid,
			  strerror(-failure));
		error_set_cure(
			error,
			"In a container, add the capability: docker run --cap-add SYS_PTRACE, or "
			"securityContext.capabilities.add [\"SYS_PTRACE\"]. A process that has "
			"more "
			"privileges than we do, or made itself undumpable, needs root.");
	}
}

bool preflight_has_ended(pid_t pid, const struct process_status *status, struct error *error)
{
	if (!procfs_has_ended(pid, status->state))
		return false;
	error_set(error, EXIT_NO_TARGET, "process %d has ended and waits for its parent (zombie)",
		  pid);
	error_set_cure(error,
		       "Its parent, process %d, has not asked for its exit code yet: nothing is "
		       "left to look at.",
		       status->parent);
	return true;
}

/* The kernel would let us: it is never asked. */
static void explain_filter(bool permitted, struct error *error)
{
	if (permitted)
		error_set_cure(
			error,
			"The capability is there, but the container runtime's profile goes by "
			"another: Debian 12's podman and docker ask for SYS_ADMIN, not for "
			"PERFMON. Start the container with --security-opt "
			"seccomp=" SECCOMP_PROFILE " (of the host), or --cap-add SYS_ADMIN; in "
			"a systemd unit: SystemCallFilter=perf_event_open.");
	else
		error_set_cure(error,
			       "The container runtime's profile asks for a capability: docker run "
			       "--cap-add PERFMON, or securityContext.capabilities.add "
			       "[\"PERFMON\"]. Debian 12's podman needs --security-opt "
			       "seccomp=" SECCOMP_PROFILE " (of the host) with it, and its docker, "
			       "which has no PERFMON, --cap-add SYS_ADMIN.");
}

void preflight_explain_perf(int failure, struct error *error)
{
	int paranoid = procfs_read_setting("/proc/sys/kernel/perf_event_paranoid", 2);
	struct process_status self;
	bool known = !procfs_read_status(getpid(), 0, &self);
	bool admin = known && have_capability(&self, CAP_SYS_ADMIN);
	bool permitted = admin || (known && have_capability(&self, CAPABILITY_PERFMON));
	bool filtered = failure != -EMFILE && failure != -ENOBUFS && call_filter_refuses_perf();

	error_set(error, EXIT_PERMISSION, "%s refuses perf events: %s",
		  filtered ? "a seccomp filter" : "the kernel", strerror(-failure));
	if (filtered && (permitted || paranoid <= 2))
		explain_filter(permitted, error);
	else if (failure == -ENOSYS)
		error_set_cure(error, "This kernel has no perf_event_open.");
	else if (failure == -EMFILE)
		error_set_cure(error, "Raise the limit of open files: ulimit -n 65536.");
	else if (failure == -ENOBUFS)
		error_set_cure(error, "Let this user lock more memory: ulimit -l unlimited, or "
				      "sysctl kernel.perf_event_mlock_kb=2048.");
	else if (!permitted && paranoid > 2)
		error_set_cure(error,
			       "Lower the setting: sysctl kernel.perf_event_paranoid=2 (it is %d), "
			       "or grant CAP_PERFMON (Debian's kernels: CAP_SYS_ADMIN), or run as "
			       "root.",
			       paranoid);
	else if (!admin && paranoid > 2)
		error_set_cure(error,
			       "Debian's kernels ask for CAP_SYS_ADMIN where this setting is above "
			       "2: sysctl kernel.perf_event_paranoid=2 (it is %d), or grant that.",
			       paranoid);
	else if (!permitted)
		error_set_cure(error, "Grant CAP_PERFMON, or run as root: a security module may "
				      "ask for it.");
	else
		error_set_cure(error, "A security module may refuse them, or the kernel's limits.");
}

void preflight_explain_breakpoints(pid_t pid, int breakpoint_errno, struct error *error)
{
	if (breakpoint_errno == ENOSPC) {
		error_set(error, EXIT_PERMISSION,
			  "all four debug registers of process %d are taken by another program",
			  pid);
		error_set_cure(error, "End whatever uses hardware breakpoints on it (perf record "
				      "-e mem:, gdb's watch), "
				      "or profile time alone: --mode time");
	} else {
		error_set(error, EXIT_PERMISSION, "the kernel gives no hardware breakpoints: %s",
			  strerror(breakpoint_errno));
		error_set_cure(error, "This machine (a virtual one without debug registers?) can "
				      "profile time alone: "
				      "--mode time");
	}
}

static int check_executable(pid_t pid, struct error *error)
{
	unsigned char identification[EI_NIDENT];
	char path[PROCFS_PATH_SIZE];
	ssize_t got;
	int fd;

	procfs_living_path(path, pid, "exe");
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0) {
		if (errno == ENOENT) {
			error_set(error, EXIT_NO_TARGET, "process %d is a kernel thread", pid);
			return -1;
		}
		preflight_explain_seize(pid, -errno, error);
		return -1;
	}
	got = read(fd, identification, sizeof(identification));
	close(fd);
	if (got != sizeof(identification) || memcmp(identification, ELFMAG, SELFMAG) != 0 ||
	    identification[EI_CLASS] != ELFCLASS64) {
		error_set(error, EXIT_NO_TARGET, "process %d is not a 64-bit program", pid);
		error_set_cure(error, "Only x86-64 interpreters are supported.");
		return -1;
	}
	return 0;
}

bool preflight_in_first_user_namespace(void)
{
	unsigned inside = 0, outside = 0, count = UINT32_MAX;
	FILE *file = fopen("/proc/self/uid_map", "re");

	if (!file)
		return true;
	if (fscanf(file, "%u %u %u", &inside, &outside, &count) != 3)
		count = 0;
	fclose(file);
	return inside == 0 && outside == 0 && count == UINT32_MAX;
}

/*
 * The kernel passes a perf event's signals to processes of the same user, or from
 * root, and lets no capability stand in for that (sigio_perm()): without a word,
 * the threads would never stop.
 */
static bool signals_reach(const struct process_status *target)
{
	struct process_status self;

	if (procfs_read_status(getpid(), 0, &self))
		return true;
	for (unsigned i = 0; i < 2; i++) /* real and effective, of the target real and saved */
		if (self.uid[i] == target->uid[0] || self.uid[i] == target->uid[2])
			return true;
	return self.uid[1] == 0 && preflight_in_first_user_namespace();
}

static int check_signals(pid_t pid, const struct process_status *target, struct error *error)
{
	if (signals_reach(target))
		return 0;
	error_set(error, EXIT_PERMISSION,
		  "the kernel delivers no signals of a clock from this user to process %d, which "
		  "belongs to user %u, so its threads cannot be stopped",
		  pid, target->uid[0]);
	error_set_cure(error, "Run as that user or as root: to others, CAP_SYS_PTRACE only "
			      "allows reading.");
	return -1;
}

/*
 * Best is one that no thread uses in any way. A handler would run for our
 * signals should we die; a thread that blocks it, as many do with all signals,
 * is sampled without stops, but it is to be few.
 */
static void choose_signal(pid_t pid, int wanted, struct preflight *preflight)
{
	size_t blocking[SIGNALS] = { 0 }, use[HARMLESS_COUNT], least = 0;
	uint64_t caught = 0;
	pid_t tids[THREADS_LOOKED_AT];
	size_t count = 0;
	int chosen;

	if (procfs_read_threads(pid, tids, THREADS_LOOKED_AT, &count))
		count = 0;
	for (size_t i = 0; i < count; i++) {
		struct process_status status;

		if (procfs_read_status(pid, tids[i], &status))
			continue;
		caught |= status.signals_caught;
		for (size_t k = 0; k < SIGNALS; k++)
			blocking[k] += status.signals_blocked >> k & 1;
	}
	for (size_t k = 0; k < HARMLESS_COUNT; k++) {
		int bit = harmless_signals[k] - 1;

		use[k] = blocking[bit] + (caught >> bit & 1 ? THREADS_LOOKED_AT + 1 : 0);
		if (use[k] < use[least])
			least = k;
	}
	chosen = wanted ? wanted : harmless_signals[least];
	preflight->stop_signal = chosen;
	preflight->stop_signal_is_shared = caught >> (chosen - 1) & 1;
	preflight->threads_blocking = blocking[chosen - 1];
}

/*
 * Those events of the processor that open on this thread: all that there are, or none. Where
 * cores differ, accesses on some of them would be missing.
 */
static size_t probe_memory(struct thread_events *events, uint8_t kind,
			   struct memory_event found[MEMORY_EVENTS_MAX])
{
	size_t count = memory_event_find(MEMORY_EVENT_DEVICES, kind, found);

	for (size_t i = 0; i < count; i++) {
		/* Opened one after the other: each of them counts on a counter of its own. */
		thread_events_remove_memory(events);
		if (thread_events_add_memory(events, &found[i]))
			return 0;
	}
	return count;
}

/* Tries for real, on one of the target's threads: a clock, then breakpoints that nothing reaches.
 */
static int probe_events(pid_t pid, struct preflight *preflight, struct error *error)
{
	struct thread_events events;
	/* The zero page is never mapped: no instruction is ever fetched from there. */
	remote_addr nowhere = 8;
	int failure = thread_events_open(&events, procfs_living_thread(pid), preflight->stop_signal,
					 PROBE_PERIOD_NS);

	/* It has ended since. */
	if (failure == -ESRCH) {
		preflight->breakpoints = BREAKPOINT_SLOTS;
		return 0;
	}
	if (failure) {
		preflight_explain_perf(failure, error);
		return -1;
	}
	preflight->load_count = probe_memory(&events, ACCESS_LOAD, preflight->loads);
	preflight->store_count = probe_memory(&events, ACCESS_STORE, preflight->stores);
	preflight->breakpoints = 0;
	while (preflight->breakpoints < BREAKPOINT_SLOTS) {
		failure = breakpoint_arm(&events, preflight->breakpoints, BREAKPOINT_EXECUTE,
					 nowhere, 8);
		if (failure)
			break;
		preflight->breakpoints++;
	}
	preflight->breakpoint_errno = preflight->breakpoints ? 0 : -failure;
	thread_events_close(&events);
	return 0;
}

int preflight_probe_clock(pid_t pid)
{
	struct thread_events events;
	struct process_status status;
	int failure = thread_events_open(&events, procfs_living_thread(pid), harmless_signals[0],
					 PROBE_PERIOD_NS);

	if (!failure && !procfs_read_status(pid, 0, &status) && !signals_reach(&status)) {
		thread_events_close(&events);
		return -EPERM;
	}
	if (!failure)
		thread_events_close(&events);
	return failure;
}

int preflight_check(pid_t pid, int wanted_signal, struct preflight *ret_preflight,
		    struct error *error)
{
	struct preflight preflight = { 0 };
	struct process_status status, living;

	if (pid <= 0 || procfs_read_status(pid, 0, &status)) {
		preflight_explain_seize(pid, -ESRCH, error);
		return -1;
	}
	if (status.thread_group != pid) {
		error_set(error, EXIT_NO_TARGET, "%d is a thread of process %d", pid,
			  status.thread_group);
		error_set_cure(error, "Attach to the process: --pid %d", status.thread_group);
		return -1;
	}
	if (pid == getpid()) {
		error_set(error, EXIT_NO_TARGET, "process %d is this profiler", pid);
		return -1;
	}
	if (preflight_has_ended(pid, &status, error))
		return -1;
	/* A main thread that has ended is let go of by its tracer, the others are not. */
	if (!status.tracer && !procfs_read_status(pid, procfs_living_thread(pid), &living))
		status.tracer = living.tracer;
	if (status.tracer) {
		explain_tracer(pid, status.tracer, error);
		return -1;
	}
	if (check_executable(pid, error) || check_signals(pid, &status, error))
		return -1;
	choose_signal(pid, wanted_signal, &preflight);
	if (probe_events(pid, &preflight, error))
		return -1;
	*ret_preflight = preflight;
	return 0;
}
