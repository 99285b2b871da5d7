/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/inspect/doctor.h"

#include "attach/call_filter.h"
#include "attach/container_name.h"
#include "attach/cpu_supply.h"
#include "attach/preflight.h"
#include "attach/procfs.h"
#include "attach/thread_events.h"
#include "attach/trial.h"
#include "daemon/inspect/doctor_process.h"
#include "daemon/report/model/container_text.h"
#include "symbolize/debug_download.h"

#include <errno.h>
#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>

#define CAPABILITY_PERFMON 38
#define CAPABILITY_BPF     39
#define FILES_A_THREAD     6
#define PAGES_A_THREAD     4  /* two rings */
#define FILES_OF_OUR_OWN   64 /* and more for libraries, which are closed again */
#define THREADS_FEW        64
#define DEVICES            "/sys/bus/event_source/devices/"

#define KUBERNETES(name) "Kubernetes: securityContext: {capabilities: {add: [\"" name "\"]}}"

/* ---- where we are ---- */

/* First line of a file; "" when it cannot be read. */
static void read_line(const char *path, char *text, size_t size)
{
	FILE *file = fopen(path, "re");

	text[0] = '\0';
	if (!file)
		return;
	if (!fgets(text, (int)size, file))
		text[0] = '\0';
	text[strcspn(text, "\n")] = '\0';
	fclose(file);
}

/* Is the word in the line of the file that starts with key? */
static bool line_has(const char *path, const char *key, const char *word)
{
	FILE *file = fopen(path, "re");
	char line[4096];
	bool has = false;

	while (file && !has && fgets(line, sizeof(line), file))
		if (!strncmp(line, key, strlen(key))) {
			has = strstr(line, word) != NULL;
			break;
		}
	if (file)
		fclose(file);
	return has;
}

static void doctor_examine_place(struct doctor_report *report)
{
	char vendor[64], product[64];
	struct container container;
	struct utsname system;

	if (!uname(&system))
		doctor_add(report, "kernel", DOCTOR_FACT, "Linux %s", system.release);
	if (!container_read(getpid(), &container)) {
		struct profile_container shown = profile_container_of(&container);

		doctor_add(report, "container", DOCTOR_FACT, "this is container %s",
			   container_words(&shown).text);
	} else if (!access("/.dockerenv", F_OK) || !access("/run/.containerenv", F_OK) ||
		   getenv("KUBERNETES_SERVICE_HOST")) {
		doctor_add(report, "container", DOCTOR_FACT, "this is a container");
	} else {
		doctor_add(report, "container", DOCTOR_FACT, "no container was detected");
	}
	if (!line_has("/proc/cpuinfo", "flags", " hypervisor"))
		return;
	read_line("/sys/class/dmi/id/sys_vendor", vendor, sizeof(vendor));
	read_line("/sys/class/dmi/id/product_name", product, sizeof(product));
	doctor_add(report, "machine", DOCTOR_FACT, "a virtual one%s%s%s%s", vendor[0] ? ": " : "",
		   vendor, product[0] ? ", " : "", product);
}

static void examine_privileges(struct doctor_report *report, const struct process_status *self)
{
	static const struct {
		unsigned bit;
		const char *name;
	} interesting[] = {
		{ CAP_SYS_PTRACE, "SYS_PTRACE" }, { CAPABILITY_PERFMON, "PERFMON" },
		{ CAP_SYS_ADMIN, "SYS_ADMIN" },   { CAP_SYS_NICE, "SYS_NICE" },
		{ CAPABILITY_BPF, "BPF" },        { 40, "CHECKPOINT_RESTORE" },
	};
	char names[128] = "";
	size_t used = 0;

	for (size_t i = 0; i < sizeof(interesting) / sizeof(interesting[0]); i++)
		if (self->capabilities_effective >> interesting[i].bit & 1)
			used += (size_t)snprintf(names + used, sizeof(names) - used, "%s%s",
						 used ? ", " : "", interesting[i].name);
	doctor_add(report, "privileges", DOCTOR_FACT, "user %u; of the capabilities that matter %s",
		   self->uid[1], used ? names : "none");
	if (line_has("/proc/self/status", "Seccomp:", "2"))
		doctor_meaning(doctor_add(report, "seccomp", DOCTOR_FACT,
					  "a filter of system calls is in force"),
			       "Containers have one. The lines below say what it refuses.");
}

/* ---- ptrace and memory ---- */

static void explain_yama(struct doctor_line *line, int yama)
{
	doctor_meaning(line,
		       "Processes that were not started by this one cannot be attached to: no "
		       "profile at all.");
	if (yama >= 3)
		doctor_cure(line, "Only a reboot without kernel.yama.ptrace_scope=3 changes it.");
	else
		doctor_cure(line, "sysctl kernel.yama.ptrace_scope=0, or run as root; docker run "
				  "--cap-add SYS_PTRACE; " KUBERNETES("SYS_PTRACE"));
}

static void examine_attaching(struct doctor_report *report, const struct process_status *self,
			      const struct trial *trial)
{
	int yama = procfs_read_setting("/proc/sys/kernel/yama/ptrace_scope", 0);
	bool privileged = self->capabilities_effective >> CAP_SYS_PTRACE & 1;
	struct doctor_line *line;

	if (!trial->attached) {
		line = doctor_add(report, "ptrace", DOCTOR_MISSING, "refused: %s",
				  trial->attach_error.cause);
		doctor_meaning(line, "No process can be attached to: no profile at all.");
		doctor_cure(line, "%s", trial->attach_error.cure);
	} else if (yama >= 3 || (yama && !privileged)) {
		line = doctor_add(report, "ptrace", DOCTOR_MISSING,
				  "allowed on children alone (Yama ptrace_scope %d)", yama);
		explain_yama(line, yama);
	} else if (!privileged) {
		line = doctor_add(report, "ptrace", DOCTOR_LIMITED,
				  "a child was attached to; CAP_SYS_PTRACE is missing");
		doctor_meaning(line, "Only processes of user %u can be profiled.", self->uid[1]);
		doctor_cure(line, "For others: run as root (sudo); docker run --cap-add "
				  "SYS_PTRACE; " KUBERNETES("SYS_PTRACE"));
	} else {
		doctor_add(report, "ptrace", DOCTOR_OK, "a child was attached to and let go");
	}
	if (trial->memory_errno) {
		line = doctor_add(report, "memory", DOCTOR_MISSING,
				  "the memory of a child cannot be read: %s",
				  strerror(trial->memory_errno));
		doctor_meaning(line, "No Python frames, no values: no profile at all.");
		doctor_cure(line, "Allow process_vm_readv in the seccomp profile, or: docker run "
				  "--cap-add SYS_PTRACE; " KUBERNETES("SYS_PTRACE"));
	} else if (trial->memory_by_file) {
		line = doctor_add(report, "memory", DOCTOR_LIMITED,
				  "process_vm_readv(2) is refused; read through /proc/PID/mem");
		doctor_meaning(line, "Stops take a little longer.");
		doctor_cure(line, "docker run --cap-add SYS_PTRACE; " KUBERNETES("SYS_PTRACE"));
	} else {
		doctor_add(report, "memory", DOCTOR_OK, "process_vm_readv(2) works");
	}
}

/* ---- perf events ---- */

static void examine_clock(struct doctor_report *report, const struct trial *trial)
{
	int paranoid = procfs_read_setting("/proc/sys/kernel/perf_event_paranoid", -9);
	struct doctor_line *line;
	struct error why;

	if (trial->clock_errno) {
		preflight_explain_perf(-trial->clock_errno, &why);
		line = doctor_add(report, "clock", DOCTOR_MISSING, "%s (perf_event_paranoid %d)",
				  why.cause, paranoid);
		doctor_meaning(
			line,
			"No watched memory. Time alone can be sampled, without stops: sampler "
			"\"unstopped\" in pieprofd(8).");
		doctor_cure(line, "%s", why.cure);
	} else if (!trial->clock_fired) {
		line = doctor_add(report, "clock", DOCTOR_MISSING,
				  "the sampling clock was set on a child and never stopped it");
		doctor_meaning(line, "No samples.");
	} else {
		doctor_add(report, "clock", DOCTOR_OK,
			   "the sampling clock stopped a child (perf_event_paranoid %d)", paranoid);
	}
	if (trial->clock_errno)
		return;
	if (!trial->kernel_clock_errno) {
		doctor_add(report, "kernel-time", DOCTOR_OK, "time in the kernel can be sampled");
		return;
	}
	line = doctor_add(report, "kernel-time", DOCTOR_LIMITED,
			  "time in the kernel cannot be sampled: %s",
			  strerror(trial->kernel_clock_errno));
	doctor_meaning(line, "System time, such as that of reading files, is missing in profiles.");
	doctor_cure(line, "sysctl kernel.perf_event_paranoid=1, or CAP_PERFMON: docker run "
			  "--cap-add PERFMON; " KUBERNETES("PERFMON"));
}

static void examine_program(struct doctor_report *report, const struct trial *trial)
{
	struct doctor_line *line;

	if (trial->program_sampled) {
		doctor_add(report, "kernel-engine", DOCTOR_OK,
			   "a program in the kernel sampled a child that nobody stopped");
		return;
	}
	line = doctor_add(
		report, "kernel-engine", DOCTOR_LIMITED, "%s",
		trial->program_error.cause[0]
			? trial->program_error.cause
			: "a program was loaded into the kernel, and never sampled the child");
	doctor_meaning(line, "Samples of time (--mode time) are taken by short stops.");
	if (trial->program_error.cause[0])
		doctor_cure(line, "%s", trial->program_error.cure);
}

static void examine_breakpoints(struct doctor_report *report, const struct trial *trial)
{
	bool fired = trial->execution_fired && (trial->breakpoints < 2 || trial->data_fired);
	struct doctor_line *line;
	struct error why;

	if (trial->breakpoints == BREAKPOINT_SLOTS && fired) {
		doctor_add(report, "breakpoints", DOCTOR_OK,
			   "%u debug registers; a store and an instruction of a child stopped it",
			   trial->breakpoints);
	} else if (trial->breakpoints && fired) {
		line = doctor_add(report, "breakpoints", DOCTOR_LIMITED,
				  "%u of %d debug registers are free", trial->breakpoints,
				  BREAKPOINT_SLOTS);
		doctor_meaning(line, "Fewer memory accesses are followed at a time.");
		doctor_cure(line, "End whatever uses hardware breakpoints on the whole machine "
				  "(perf record -e mem:).");
	} else if (trial->breakpoints) {
		line = doctor_add(report, "breakpoints", DOCTOR_MISSING,
				  "debug registers could be set, but %s",
				  trial->execution_fired ? "no store stopped the child"
							 : "no instruction stopped the child");
		doctor_meaning(line, "No redundant loads and stores: time alone (--mode time).");
		doctor_cure(line, "Some virtual machines pretend to have them: use another one, or "
				  "the host.");
	} else {
		preflight_explain_breakpoints(getpid(),
					      trial->breakpoint_errno ? trial->breakpoint_errno
								      : trial->clock_errno,
					      &why);
		line = doctor_add(report, "breakpoints", DOCTOR_MISSING, "none: %s",
				  strerror(trial->breakpoint_errno ? trial->breakpoint_errno
								   : trial->clock_errno));
		doctor_meaning(line, "No redundant loads and stores.");
		doctor_cure(line, "%s",
			    trial->clock_errno ? "They are perf events, too: see the clock above."
					       : why.cure);
	}
}

/* ---- limits ---- */

static void examine_limits(struct doctor_report *report, const struct process_status *self)
{
	unsigned long long mlock_kb =
		(unsigned)procfs_read_setting("/proc/sys/kernel/perf_event_mlock_kb", 516);
	long processors = sysconf(_SC_NPROCESSORS_ONLN), page_kb = sysconf(_SC_PAGESIZE) / 1024;
	unsigned long long by_files, by_memory, room;
	struct rlimit files = { 0 }, locked = { 0 };
	struct doctor_line *line;
	/* The kernel counts the pages of rings of who may not lock memory. */
	bool unlimited = self->capabilities_effective >> CAP_IPC_LOCK & 1;

	(void)getrlimit(RLIMIT_NOFILE, &files);
	(void)getrlimit(RLIMIT_MEMLOCK, &locked);
	by_files = files.rlim_max > FILES_OF_OUR_OWN
			   ? (files.rlim_max - FILES_OF_OUR_OWN) / FILES_A_THREAD
			   : 0;
	unlimited = unlimited || locked.rlim_cur == RLIM_INFINITY;
	by_memory = unlimited
			    ? by_files
			    : (mlock_kb * (unsigned long long)processors + locked.rlim_cur / 1024) /
				      (unsigned long long)(PAGES_A_THREAD * page_kb);
	room = by_files < by_memory ? by_files : by_memory;
	line = doctor_add(report, "limits", room < THREADS_FEW ? DOCTOR_LIMITED : DOCTOR_OK,
			  "room for about %llu threads (%llu open files%s%s)", room,
			  (unsigned long long)files.rlim_max,
			  unlimited ? "" : ", perf_event_mlock_kb ", unlimited ? "" : "counts");
	if (room >= THREADS_FEW)
		return;
	doctor_meaning(line,
		       "Of a target with more, those that run are sampled, as far as that goes.");
	if (by_files <= by_memory)
		doctor_cure(line, "ulimit -n 65536; docker run --ulimit nofile=65536");
	else
		doctor_cure(line, "sysctl kernel.perf_event_mlock_kb=%llu, or ulimit -l unlimited",
			    4 * mlock_kb);
}

/* Refused in spite of the capability: by whom, as a part of a sentence. */
static const char *explain_priority(struct doctor_line *cure)
{
	char runtime[256];

	if (call_filter_refuses_scheduling()) {
		doctor_cure(cure, "CAP_SYS_NICE is there: another --security-opt seccomp=; in a "
				  "systemd unit: SystemCallFilter=sched_setscheduler.");
		return "refused by a seccomp filter";
	}
	if (!preflight_in_first_user_namespace()) {
		doctor_cure(cure, "CAP_SYS_NICE of a user namespace does not count: run as the "
				  "machine's root, or ulimit -r 1.");
		return "refused in a user namespace";
	}
	if (cpu_supply_realtime_refused(getpid(), runtime, sizeof(runtime))) {
		doctor_cure(cure,
			    "CAP_SYS_NICE is there, but %s is 0: write microseconds of each second "
			    "there (its parents first), or docker run --cpu-rt-runtime=10000.",
			    runtime);
		return "refused by its control group, which has no time for real-time threads";
	}
	doctor_cure(cure, "CAP_SYS_NICE is there: where the kernel has CONFIG_RT_GROUP_SCHED, only "
			  "the root control group of version 2 may have real-time threads; a "
			  "security module may refuse them, too.");
	return "not permitted";
}

static void examine_priority(struct doctor_report *report, const struct process_status *self,
			     const struct trial *trial)
{
	bool able = self->capabilities_effective >> CAP_SYS_NICE & 1;
	struct doctor_line *line, cure = { .cure = "" };
	const char *why;

	if (!trial->realtime_errno) {
		doctor_add(report, "priority", DOCTOR_OK, "the tracer can have real-time priority");
		return;
	}
	why = able && trial->realtime_errno != EINVAL ? explain_priority(&cure)
						      : strerror(trial->realtime_errno);
	line = doctor_add(report, "priority", DOCTOR_LIMITED,
			  "the tracer cannot have real-time priority: %s", why);
	doctor_meaning(line, "On a machine whose processors are all busy, stops are longer.");
	if (cure.cure[0])
		doctor_cure(line, "%s", cure.cure);
	else
		doctor_cure(
			line,
			"ulimit -r 1, or CAP_SYS_NICE: docker run --cap-add SYS_NICE; " KUBERNETES(
				"SYS_NICE"));
}

/* ---- facts ---- */

static void examine_memory_samplers(struct doctor_report *report)
{
	static const struct {
		const char *path, *name;
	} samplers[] = {
		{ DEVICES "cpu/events/mem-loads", "loads (PEBS)" },
		{ DEVICES "cpu/events/mem-stores", "stores (PEBS)" },
		{ DEVICES "cpu_core/events/mem-loads", "loads (PEBS, performance cores)" },
		{ DEVICES "cpu_core/events/mem-stores", "stores (PEBS, performance cores)" },
		{ DEVICES "ibs_op", "loads and stores (IBS)" },
	};
	char names[256] = "";
	size_t used = 0;
	bool pmu = !access(DEVICES "cpu", F_OK) || !access(DEVICES "cpu_core", F_OK);

	for (size_t i = 0; i < sizeof(samplers) / sizeof(samplers[0]); i++)
		if (!access(samplers[i].path, F_OK))
			used += (size_t)snprintf(names + used, sizeof(names) - used, "%s%s",
						 used ? ", " : "", samplers[i].name);
	doctor_meaning(doctor_add(report, "pmu", DOCTOR_FACT, "%s%s",
				  used  ? "the processor can sample "
				  : pmu ? "the processor counts events, and samples no addresses"
					: "no performance counters",
				  names),
		       "Not needed: accesses are sampled by the clock.");
}

static void examine_debuginfod(struct doctor_report *report, bool urls)
{
	const char *found = !debug_download_possible() ? "no client (libdebuginfod) is installed"
			    : urls ? "there is a client, and DEBUGINFOD_URLS names servers"
				   : "there is a client; DEBUGINFOD_URLS names no server";

	doctor_meaning(doctor_add(report, "debuginfod", DOCTOR_FACT, "%s", found),
		       "Names and lines of stripped libraries; asked only with --debuginfod.");
}

/* ---- all together ---- */

static void doctor_judge(struct doctor_report *report)
{
	size_t missing = 0, limited = 0;
	char names[128] = "";
	size_t used = 0;

	for (size_t i = 0; i < report->count; i++) {
		if (report->lines[i].state == DOCTOR_LIMITED)
			limited++;
		if (report->lines[i].state != DOCTOR_MISSING)
			continue;
		missing++;
		if (used < sizeof(names))
			used += (size_t)snprintf(names + used, sizeof(names) - used, "%s%s",
						 used ? ", " : "", report->lines[i].id);
	}
	if (missing && report->exit_code == EXIT_OK)
		report->exit_code = EXIT_PERMISSION;
	if (missing)
		snprintf(report->verdict, sizeof(report->verdict),
			 "Redundant loads and stores cannot be found %s: see %s.",
			 report->pid ? "in this process" : "here", names);
	else if (limited)
		snprintf(report->verdict, sizeof(report->verdict),
			 "Profiles can be taken%s, within the limits above.",
			 report->pid ? " of this process" : " here");
	else
		snprintf(report->verdict, sizeof(report->verdict), "Everything works%s.",
			 report->pid ? " with this process" : " here");
}

static int examine_machine(struct doctor_report *report, bool debuginfod, struct error *error)
{
	struct process_status self;
	struct trial trial;
	int failure = procfs_read_status(getpid(), 0, &self);

	if (!failure)
		failure = trial_run(&trial);
	if (failure) {
		error_set(error, EXIT_INTERNAL, "no trial can be made here: %s",
			  strerror(-failure));
		return -1;
	}
	doctor_examine_place(report);
	examine_privileges(report, &self);
	examine_attaching(report, &self, &trial);
	examine_clock(report, &trial);
	examine_program(report, &trial);
	examine_breakpoints(report, &trial);
	examine_limits(report, &self);
	examine_priority(report, &self, &trial);
	examine_memory_samplers(report);
	examine_debuginfod(report, debuginfod);
	return 0;
}

int doctor_examine(pid_t pid, bool debuginfod, struct impersonator *impersonator,
		   struct doctor_report *ret_report, struct error *error)
{
	static const struct doctor_report empty;

	*ret_report = empty;
	if (examine_machine(ret_report, debuginfod, error))
		return -1;
	ret_report->pid = pid;
	if (pid && doctor_examine_process(ret_report, pid, impersonator, error))
		return -1;
	doctor_judge(ret_report);
	return 0;
}
