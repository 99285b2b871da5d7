/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/inspect/doctor_process.h"

#include "attach/container_name.h"
#include "attach/preflight.h"
#include "attach/procfs.h"
#include "attach/thread_events.h"
#include "daemon/capture/target.h"
#include "daemon/report/model/container_text.h"
#include "symbolize/debug_file.h"
#include "symbolize/elf_image.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#define THREADS_COUNTED 16384
#define NAMES_SHOWN     5

static void refused(struct doctor_report *report, const char *id, const struct error *why)
{
	struct doctor_line *line;

	/* One reason may show in two ways. */
	if (report->count && !strcmp(report->lines[report->count - 1].found, why->cause))
		return;
	line = doctor_add(report, id, DOCTOR_MISSING, "%s", why->cause);
	doctor_meaning(line, "No profile of this process.");
	doctor_cure(line, "%s", why->cure);
	if (report->exit_code == EXIT_OK)
		report->exit_code = why->exit_code;
}

/* ---- where it lives ---- */

static bool same_namespace(pid_t pid, const char *name)
{
	struct stat ours, theirs;
	char path[PROCFS_PATH_SIZE], file[16];

	snprintf(path, sizeof(path), "/proc/self/ns/%s", name);
	if (stat(path, &ours))
		return true;
	snprintf(file, sizeof(file), "ns/%s", name);
	procfs_living_path(path, pid, file);
	return stat(path, &theirs) != 0 || ours.st_ino == theirs.st_ino;
}

static void examine_place(struct doctor_report *report, pid_t pid,
			  const struct process_status *status)
{
	bool other_pids = !same_namespace(pid, "pid"), other_files = !same_namespace(pid, "mnt");
	bool other_users = !same_namespace(pid, "user");
	struct container container;
	struct doctor_line *line;

	doctor_add(report, "process", DOCTOR_FACT, "%d (%s), user %u", pid, status->name,
		   status->uid[1]);
	if (!container_read(pid, &container)) {
		struct profile_container shown = profile_container_of(&container);

		doctor_add(report, "container", DOCTOR_FACT, "container %s",
			   container_words(&shown).text);
	}
	if (!other_pids && !other_files && !other_users)
		return;
	line = doctor_add(report, "namespaces", DOCTOR_FACT, "its own:%s%s%s",
			  other_pids ? " process ids" : "", other_files ? " files" : "",
			  other_users ? " users" : "");
	doctor_meaning(line, "Its files are read through /proc/%d/root; it knows itself as %d.",
		       pid, status->inner_pid);
}

/* ---- may it be attached to? ---- */

/*
 * To read its memory takes the same permission as to attach, Yama and user
 * namespaces included, and does nothing to it.
 */
static bool examine_access(struct doctor_report *report, pid_t pid)
{
	struct mapping_list mappings = { 0 };
	struct process_memory memory;
	struct memory_reader reader;
	struct error why;
	uint8_t byte;
	int error = procfs_read_mappings(pid, &mappings);

	process_memory_init(&memory, pid);
	reader = process_memory_reader(&memory);
	for (size_t i = 0; !error && i < mappings.count; i++) {
		if (!(mappings.mappings[i].protection & PROT_READ) ||
		    mappings.mappings[i].path[0] == '[')
			continue;
		error = memory_read(&reader, mappings.mappings[i].start, &byte, 1);
		if (error != -EFAULT)
			break;
		error = 0;
	}
	process_memory_deinit(&memory);
	mapping_list_deinit(&mappings);
	if (!error) {
		doctor_add(report, "access", DOCTOR_OK, "its memory can be read");
		return true;
	}
	preflight_explain_seize(pid, error, &why);
	refused(report, "access", &why);
	return false;
}

static void examine_events(struct doctor_report *report, pid_t pid,
			   const struct preflight *preflight)
{
	const char *whose = procfs_living_thread(pid) == pid ? "its main thread" : "a thread";
	struct doctor_line *line;
	struct error why;

	if (preflight->stop_signal_is_shared) {
		line = doctor_add(report, "stop-signal", DOCTOR_LIMITED, "it handles SIG%s itself",
				  sigabbrev_np(preflight->stop_signal));
		doctor_meaning(line, "Should pieprofd be killed, its handler may see one of ours.");
		doctor_cure(line, "Choose another one with --stop-signal.");
	} else if (preflight->threads_blocking) {
		line = doctor_add(report, "stop-signal", DOCTOR_LIMITED,
				  "%zu of its threads block SIG%s", preflight->threads_blocking,
				  sigabbrev_np(preflight->stop_signal));
		doctor_meaning(line, "They are read without stops: their time is counted, "
				     "redundancy is not watched in them.");
	} else {
		doctor_add(report, "stop-signal", DOCTOR_OK, "SIG%s is free to stop its threads",
			   sigabbrev_np(preflight->stop_signal));
	}
	if (preflight->breakpoints == BREAKPOINT_SLOTS) {
		doctor_add(report, "breakpoints", DOCTOR_OK, "all debug registers of %s are free",
			   whose);
		return;
	}
	preflight_explain_breakpoints(pid, preflight->breakpoint_errno, &why);
	line = doctor_add(report, "breakpoints",
			  preflight->breakpoints ? DOCTOR_LIMITED : DOCTOR_MISSING,
			  "%u of %d debug registers of %s are free", preflight->breakpoints,
			  BREAKPOINT_SLOTS, whose);
	doctor_meaning(line, preflight->breakpoints
				     ? "Fewer memory accesses are followed at a time."
				     : "No redundant loads and stores: time alone.");
	if (!preflight->breakpoints)
		doctor_cure(line, "%s", why.cure);
}

static void examine_threads(struct doctor_report *report, pid_t pid)
{
	pid_t *tids = malloc(THREADS_COUNTED * sizeof(*tids));
	size_t count = 0;

	if (tids && !procfs_read_threads(pid, tids, THREADS_COUNTED, &count))
		doctor_add(report, "threads", DOCTOR_FACT, "%zu%s", count,
			   count == THREADS_COUNTED ? " or more" : "");
	free(tids);
}

/* ---- what can be read of it ---- */

static void examine_python(struct doctor_report *report, const struct target *target)
{
	static const char *const sources[] = {
		[PYTHON_OFFSETS_DEBUG_OFFSETS] = "its own _Py_DebugOffsets",
		[PYTHON_OFFSETS_DWARF] = "its DWARF",
		[PYTHON_OFFSETS_TABLE] = "the built-in table",
	};
	struct python_version version;

	if (!target->runtime) {
		struct doctor_line *line = doctor_add(report, "python", DOCTOR_MISSING, "%s",
						      target->python_refusal.cause);

		doctor_meaning(line, "Native stacks and time alone.");
		doctor_cure(line, "%s", target->python_refusal.cure);
		report->exit_code = target->python_refusal.exit_code;
		return;
	}
	version = python_runtime_version(target->runtime);
	doctor_add(
		report, "python", DOCTOR_OK, "CPython %d.%d.%d%s in %s, structures known from %s",
		version.major, version.minor, version.micro, python_version_build(&version),
		target->interpreter->path, sources[python_runtime_offsets_source(target->runtime)]);
}

/* Modules of which something is said, the first few by name. */
struct named {
	char names[256];
	size_t count;
};

static void name_module(struct named *named, const struct module *module)
{
	size_t used = strlen(named->names);

	if (named->count++ < NAMES_SHOWN)
		snprintf(named->names + used, sizeof(named->names) - used, "%s%s", used ? ", " : "",
			 module->name);
	else if (named->count == NAMES_SHOWN + 1)
		snprintf(named->names + used, sizeof(named->names) - used, ", ...");
}

static bool has_symbols(const struct module *module, const struct debug_search *search)
{
	struct elf_section section;
	struct elf_image *debug;

	if (!elf_image_section_find(module->image, ".symtab", &section) ||
	    !elf_image_section_find(module->image, ".gnu_debugdata", &section))
		return true;
	if (debug_file_find(module, search, &debug))
		return false;
	elf_image_close(debug);
	return true;
}

/* libffi maps a page of its own file once more, for trampolines: that one lacks its headers. */
static bool mapped_elsewhere(const struct target *target, const struct module *module)
{
	size_t count = module_table_count(target->modules);

	for (size_t i = 0; i < count; i++) {
		const struct module *other = module_table_get(target->modules, i);

		if (other->image && !strcmp(other->path, module->path))
			return true;
	}
	return false;
}

static void examine_modules(struct doctor_report *report, const struct target *target)
{
	struct named closed = { .count = 0 }, unwindable = { .count = 0 }, bare = { .count = 0 };
	size_t count = module_table_count(target->modules);
	const char *problem = NULL;
	struct doctor_line *line;

	for (size_t i = 0; i < count; i++) {
		const struct module *module = module_table_get(target->modules, i);

		if (!module->image && mapped_elsewhere(target, module))
			continue;
		if (!module->image) {
			problem = module_image_problem(module);
			name_module(&closed, module);
			continue;
		}
		if (module->path[0] == '[')
			continue;
		if (!module->image->eh_frame_size && !module->image->eh_frame_hdr_size)
			name_module(&unwindable, module);
		if (!has_symbols(module, &target->search))
			name_module(&bare, module);
	}
	if (closed.count) {
		line = doctor_add(report, "files", DOCTOR_LIMITED,
				  "%zu of %zu programs and libraries cannot be read: %s (%s)",
				  closed.count, count, closed.names, problem);
		doctor_meaning(line, "Native stacks through them end, and have no names.");
		doctor_cure(line, "Run as root, or with CAP_SYS_PTRACE and "
				  "CAP_CHECKPOINT_RESTORE; restart a process whose files were "
				  "replaced.");
	} else {
		doctor_add(report, "files", DOCTOR_OK, "all %zu programs and libraries can be read",
			   count);
	}
	if (unwindable.count)
		doctor_meaning(doctor_add(report, "unwinding", DOCTOR_LIMITED,
					  "%zu of %zu have no unwind information: %s",
					  unwindable.count, count, unwindable.names),
			       "Frames below them are guessed, and marked so.");
	else
		doctor_add(report, "unwinding", DOCTOR_OK, "all have unwind information");
	if (bare.count) {
		line = doctor_add(report, "symbols", DOCTOR_LIMITED, "%zu of %zu are stripped: %s",
				  bare.count, count, bare.names);
		doctor_meaning(line, "Of their functions only exported ones have names.");
		doctor_cure(line, "Install their debug symbols (the packages end in -dbgsym, -dbg "
				  "or -debuginfo), or use --debuginfod.");
	} else {
		doctor_add(report, "symbols", DOCTOR_OK, "all have symbols");
	}
}

/* Whether files can be opened with the target's rights: any will do, also one that is none. */
static void examine_sources(struct doctor_report *report, struct target *target)
{
	struct doctor_line *line;
	unsigned user = target->files.credentials.user;

	if (target_files_open_source(&target->files, "/") != IMPERSONATOR_REFUSED) {
		doctor_add(report, "sources", DOCTOR_OK, "its source files are read as user %u",
			   user);
		return;
	}
	line = doctor_add(report, "sources", DOCTOR_LIMITED,
			  "its source files cannot be read as user %u, with its groups", user);
	doctor_meaning(line, "Reports have no source lines: what a target may not read is not read "
			     "for it.");
	doctor_cure(line, "Run as that user or as root, or with CAP_SETUID and CAP_SETGID: docker "
			  "run --cap-add SETUID --cap-add SETGID.");
}

static int examine_target(struct doctor_report *report, pid_t pid,
			  struct impersonator *impersonator, struct error *error)
{
	struct target target;
	int result = 0;

	if (target_init(&target, pid, false, impersonator, NULL, error)) {
		result = error->exit_code == EXIT_PERMISSION ? 0 : -1;
		if (!result)
			refused(report, "python", error);
	} else {
		examine_python(report, &target);
		examine_modules(report, &target);
		examine_sources(report, &target);
	}
	target_deinit(&target);
	return result;
}

int doctor_examine_process(struct doctor_report *report, pid_t pid,
			   struct impersonator *impersonator, struct error *error)
{
	struct process_status status;
	struct preflight preflight;

	if (procfs_read_status(pid, 0, &status)) {
		preflight_explain_seize(pid, -ESRCH, error);
		return -1;
	}
	examine_place(report, pid, &status);
	examine_threads(report, pid);
	if (preflight_check(pid, 0, &preflight, error)) {
		if (error->exit_code != EXIT_PERMISSION)
			return -1;
		refused(report, "events", error);
	} else {
		examine_events(report, pid, &preflight);
	}
	return examine_access(report, pid) ? examine_target(report, pid, impersonator, error) : 0;
}
