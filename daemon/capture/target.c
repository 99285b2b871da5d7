/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/capture/target.h"

#include "attach/preflight.h"
#include "attach/procfs.h"
#include "daemon/capture/target_sources.h"
#include "symbolize/elf_image.h"
#include "symbolize/function_group.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* int3: decoding stops at bytes that the file does not have. */
#define NO_CODE 0xcc

static int read_code(void *context, struct memory_range *ranges, size_t count)
{
	const struct target *target = context;

	for (size_t i = 0; i < count; i++) {
		const struct module *module = module_find(target->modules, ranges[i].address);
		const uint8_t *bytes = NULL;
		size_t available = 0;

		if (module && module->image)
			bytes = elf_image_at(module->image, ranges[i].address - module->bias,
					     &available);
		ranges[i].error = bytes && available ? 0 : -EFAULT;
		if (ranges[i].error)
			continue;
		if (available > ranges[i].size)
			available = ranges[i].size;
		memcpy(ranges[i].buffer, bytes, available);
		memset((uint8_t *)ranges[i].buffer + available, NO_CODE,
		       ranges[i].size - available);
	}
	return 0;
}

static bool name_starts(const struct module *module, const char *prefix)
{
	return !strncmp(module->name, prefix, strlen(prefix));
}

static enum module_kind kind_of(const struct target *target, const struct module *module)
{
	if (module == target->interpreter || name_starts(module, "libpython"))
		return MODULE_INTERPRETER;
	if (name_starts(module, "ld-linux") || name_starts(module, "ld-musl") ||
	    name_starts(module, "ld-2.") || name_starts(module, "[vdso]"))
		return MODULE_LOADER;
	if (name_starts(module, "libc.so") || name_starts(module, "libc-2.") ||
	    name_starts(module, "libpthread"))
		return MODULE_LIBC;
	return MODULE_LIBRARY;
}

/* To 0.4 the extension was the whole of greenlet, later it is a part. */
static bool is_greenlet(const struct module *module)
{
	return name_starts(module, "_greenlet.") || name_starts(module, "greenlet.");
}

/* Names are compared once a module, not once a sample. */
static int classify_modules(struct target *target)
{
	size_t count = module_table_count(target->modules);
	uint32_t *kinds;

	if (count == target->module_kind_count)
		return 0;
	kinds = realloc(target->module_kinds, count * sizeof(*kinds));
	if (!kinds)
		return -ENOMEM;
	target->module_kinds = kinds;
	target->greenlet.count = 0;
	for (size_t i = 0; i < count; i++) {
		const struct module *module = module_table_get(target->modules, i);

		kinds[i] = kind_of(target, module);
		if (is_greenlet(module) && target->greenlet.count < ADDRESS_RANGES_MAX)
			target->greenlet.items[target->greenlet.count++] = module->range;
	}
	target->module_kind_count = count;
	return 0;
}

enum module_kind target_module_kind(const struct target *target, const struct module *module)
{
	if (!module || module->index >= target->module_kind_count)
		return MODULE_LIBRARY;
	return (enum module_kind)target->module_kinds[module->index];
}

static void open_root(struct target *target, struct impersonator *impersonator)
{
	target_files_init(&target->files, target->pid, impersonator);
	target->search.root = target->files.root;
	target->search.opener = target_files_opener(&target->files);
}

/* While the process lives: what is open can be read when it has ended. -1: there is none. */
static int open_perf_map(struct target *target)
{
	const struct file_opener *opener = &target->search.opener;
	struct process_status status;
	int file;

	pthread_mutex_lock(&target->perf_map_lock);
	if (target->perf_map_file < 0 && target->files.root >= 0 &&
	    procfs_read_status(target->pid, 0, &status) == 0) {
		file = perf_map_open(opener, target->files.root, status.inner_pid, status.uid[1]);
		target->perf_map_file = file < 0 ? -1 : file;
	}
	file = target->perf_map_file;
	pthread_mutex_unlock(&target->perf_map_lock);
	return file;
}

void target_read_names(struct target *target)
{
	int file = open_perf_map(target);

	target_sources_read(target->sources, target->runtime);
	if (file < 0 || perf_map_update(target->perf_map, file) == 0)
		return;
	pthread_mutex_lock(&target->perf_map_lock);
	close(file);
	target->perf_map_file = -1;
	pthread_mutex_unlock(&target->perf_map_lock);
}

int target_refresh(struct target *target)
{
	uint32_t generation = target->mappings.generation;
	int error = procfs_read_mappings(target->pid, &target->mappings);

	if (!error && target->mappings.generation != generation)
		error = module_table_update(target->modules, &target->mappings);
	if (!error)
		(void)open_perf_map(target);
	if (!error && target->mappings.generation != generation && target->unwinder) {
		unwinder_flush(target->unwinder);
		unwinder_live_flush(target->live_unwinder);
	}
	return error ? error : classify_modules(target);
}

uint64_t target_left_out(const struct target *target)
{
	return target->mappings.left_out + module_table_dropped(target->modules) +
	       target_sources_cut(target->sources) + perf_map_dropped(target->perf_map) +
	       symbolizer_dropped(target->symbolizer) +
	       (target->runtime ? python_runtime_codes_dropped(target->runtime) : 0);
}

/* Modules that are likely to hold the interpreter are asked first: others may be huge. */
static unsigned interpreter_likelihood(const struct module *module)
{
	if (name_starts(module, "libpython"))
		return 3;
	if (name_starts(module, "python"))
		return 2;
	return module->index == 0;
}

/* hidden: its symbols are gone, so that its data must be searched. */
static bool try_interpreter(struct target *target, const struct module *module, bool hidden)
{
	struct struct_layout *layout = struct_layout_create(target->symbolizer, module);

	if (!layout)
		return false;
	target->interpreter_info = struct_layout_debug_info(layout);
	if (hidden ? !python_runtime_hidden_in(&target->interpreter_info, &target->reader)
		   : !python_runtime_in(&target->interpreter_info)) {
		struct_layout_destroy(layout);
		return false;
	}
	target->layout = layout;
	target->interpreter = module;
	return true;
}

static bool find_among(struct target *target, bool hidden)
{
	size_t count = module_table_count(target->modules);

	for (int likelihood = 3; likelihood >= 0; likelihood--)
		for (size_t i = 0; i < count; i++) {
			const struct module *module = module_table_get(target->modules, i);

			if (module->image &&
			    interpreter_likelihood(module) == (unsigned)likelihood &&
			    try_interpreter(target, module, hidden))
				return true;
		}
	return false;
}

/* Searching data takes long, and is for interpreters that show no symbol at all. */
static bool target_find_interpreter(struct target *target)
{
	return find_among(target, false) || find_among(target, true);
}

static void target_add_ranges(struct address_ranges *ranges, const struct address_ranges *more,
			      uint64_t bias)
{
	for (size_t i = 0; i < more->count && ranges->count < ADDRESS_RANGES_MAX; i++) {
		struct address_range range = { more->items[i].start + bias,
					       more->items[i].end + bias };

		if (!address_ranges_contain(ranges, range.start) ||
		    !address_ranges_contain(ranges, range.end - 1))
			ranges->items[ranges->count++] = range;
	}
}

/*
 * The loop's function with its .cold part, told from the unwind information
 * where there are no symbols; clones, told by the symbols' names; the
 * instructions' own functions.
 */
static int target_find_eval(struct target *target)
{
	static const char *const loop[] = { "_PyEval_EvalFrameDefault" };
	static const char *const handlers[] = { "_TAIL_CALL_*" };
	const struct module *interpreter = target->interpreter;
	struct address_range function;
	struct address_ranges found;
	int error = python_runtime_eval_function(target->runtime, &function);

	if (error)
		return error;
	if (unwinder_function_parts(target->unwinder, function, &target->eval))
		target->eval = (struct address_ranges){ .items = { function }, .count = 1 };
	if (!function_group_find(interpreter->image, loop, 1, &found))
		target_add_ranges(&target->eval, &found, interpreter->bias);
	if (!function_group_find(interpreter->image, handlers, 1, &found)) {
		target_add_ranges(&target->eval_handlers, &found, interpreter->bias);
		target_add_ranges(&target->eval, &found, interpreter->bias);
	}
	return 0;
}

static void error_out_of_memory(struct error *error)
{
	error_set(error, EXIT_INTERNAL, "out of memory");
}

/* Yama lets everybody read the map of a process, and its memory nobody but those who may attach. */
static bool memory_refused(struct target *target, struct error *ret_error)
{
	uint8_t byte;
	int failure = memory_read(&target->reader, target->interpreter->range.start, &byte, 1);

	if (failure != -EACCES && failure != -EPERM)
		return false;
	preflight_explain_seize(target->pid, failure, ret_error);
	return true;
}

/* An interpreter that cannot be read leaves the native stacks: -1 is for everything else. */
static int open_runtime(struct target *target, struct error *error)
{
	target->runtime = python_runtime_create(&target->interpreter_info, &target->reader,
						&target->python_refusal);
	if (!target->runtime) {
		if (memory_refused(target, error))
			return -1;
		*error = target->python_refusal;
		return error->exit_code == EXIT_UNSUPPORTED_PYTHON ? 0 : -1;
	}
	if (target_find_eval(target)) {
		error_set(&target->python_refusal, EXIT_UNSUPPORTED_PYTHON,
			  "the evaluation loop of the interpreter in process %d was not found",
			  target->pid);
		error_set_cure(&target->python_refusal,
			       "%s exports no _PyEval_EvalFrameDefault; install its debug symbols.",
			       target->interpreter->path);
		python_runtime_destroy(target->runtime);
		target->runtime = NULL;
		return 0;
	}
	target->type_type = python_runtime_type_type(target->runtime);
	target->object_head = python_runtime_object_head(target->runtime);
	return 0;
}

static bool runs_pypy(const struct target *target)
{
	for (size_t i = 0; i < module_table_count(target->modules); i++) {
		const struct module *module = module_table_get(target->modules, i);

		if (name_starts(module, "pypy") || name_starts(module, "libpypy"))
			return true;
	}
	return false;
}

static void explain_no_interpreter(const struct target *target, struct error *error)
{
	char executable[256];

	if (procfs_read_executable(target->pid, executable, sizeof(executable)))
		strcpy(executable, "?");
	if (runs_pypy(target)) {
		error_set(error, EXIT_NO_TARGET,
			  "process %d (%s) runs PyPy, which is not supported", target->pid,
			  executable);
		error_set_cure(error, "pieprofd reads CPython 3.6 to 3.15: run the program with "
				      "that.");
		return;
	}
	error_set(error, EXIT_NO_TARGET, "process %d (%s) does not run CPython", target->pid,
		  executable);
	error_set_cure(error, "None of its files has the symbol _PyRuntime. When a "
			      "launcher starts the real "
			      "interpreter, attach to that process: see `ps --forest`.");
}

int target_init(struct target *target, pid_t pid, bool download, struct impersonator *impersonator,
		struct layout_cache *layouts, struct error *error)
{
	int failure;

	*target = (struct target){ .pid = pid,
				   .search = { .root = ROOT_OWN, .download = download },
				   .perf_map_file = -1 };
	open_root(target, impersonator);
	pthread_mutex_init(&target->perf_map_lock, NULL);
	target->sources = target_sources_create(&target->files);
	process_memory_init(&target->memory, pid);
	target->copied.process = process_memory_reader(&target->memory);
	target->reader = copied_memory_reader(&target->copied);
	target->code = (struct memory_reader){ .read = read_code, .context = target };
	target->mapped = (struct mapped_files){ .pid = pid, .impersonator = impersonator };
	target->opener = mapped_files_opener(&target->mapped);
	target->modules = module_table_create(&target->opener, &target->reader);
	target->symbolizer = symbolizer_create();
	target->perf_map = perf_map_create();
	if (!target->modules || !target->symbolizer || !target->perf_map) {
		error_out_of_memory(error);
		return -1;
	}
	symbolizer_set_search(target->symbolizer, &target->search);
	symbolizer_set_layouts(target->symbolizer, layouts);
	symbolizer_set_perf_map(target->symbolizer, target->perf_map);
	failure = target_refresh(target);
	if (failure == -EACCES || failure == -EPERM) {
		preflight_explain_seize(pid, failure, error);
		return -1;
	}
	if (failure) {
		error_set(error, EXIT_NO_TARGET, "the memory map of process %d cannot be read: %s",
			  pid, strerror(-failure));
		return -1;
	}
	target->unwinder = unwinder_create(target->modules, &target->reader);
	target->live_unwinder = unwinder_live_create(target->modules);
	if (!target->unwinder || !target->live_unwinder) {
		error_out_of_memory(error);
		return -1;
	}
	if (!target_find_interpreter(target)) {
		explain_no_interpreter(target, error);
		return -1;
	}
	if (open_runtime(target, error))
		return -1;
	/* Anew, now that the interpreter is known. */
	target->module_kind_count = 0;
	if (classify_modules(target)) {
		error_out_of_memory(error);
		return -1;
	}
	/* It may have ended when the next report asks. */
	target_sources_read(target->sources, target->runtime);
	return 0;
}

void target_deinit(struct target *target)
{
	if (!target->pid)
		return; /* never initialised */
	free(target->module_kinds);
	if (target->runtime)
		python_runtime_destroy(target->runtime);
	if (target->layout)
		struct_layout_destroy(target->layout);
	if (target->live_unwinder)
		unwinder_live_destroy(target->live_unwinder);
	if (target->unwinder)
		unwinder_destroy(target->unwinder);
	if (target->symbolizer)
		symbolizer_destroy(target->symbolizer);
	perf_map_destroy(target->perf_map);
	if (target->perf_map_file >= 0)
		close(target->perf_map_file);
	if (target->modules)
		module_table_destroy(target->modules);
	mapping_list_deinit(&target->mappings);
	process_memory_deinit(&target->memory);
	target_files_deinit(&target->files);
	target_sources_destroy(target->sources);
	pthread_mutex_destroy(&target->perf_map_lock);
}
