/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/inspect/process_list.h"

#include "attach/container_name.h"
#include "attach/mapped_file.h"
#include "attach/process_memory.h"
#include "attach/procfs.h"
#include "common/array.h"
#include "common/clock.h"
#include "common/hash.h"
#include "common/interrupted.h"
#include "pyintrospect/runtime_search.h"
#include "pyintrospect/version.h"
#include "symbolize/elf_image.h"
#include "symbolize/struct_layout.h"

#include <ctype.h>
#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define CPU_INTERVAL_NS  (250 * NS_PER_MS)
#define FILES_MAX        (1u << 16)
#define RODATA_BYTES_MAX (32u << 20)
#define USERS_MAX        64

/* What is known of a file by now. */
enum file_kind {
	FILE_UNKNOWN,
	FILE_OTHER,
	FILE_INTERPRETER,
};

struct known_file {
	uint64_t device, inode;
	enum file_kind kind;
	struct python_version version;
};

struct user_name {
	uid_t uid;
	char name[33];
};

struct search {
	struct process_list *list;
	struct impersonator *impersonator;
	size_t most;
	size_t capacity;
	struct known_file *files; /* open addressing, at most half full */
	size_t file_count;
	struct user_name users[USERS_MAX];
	size_t user_count;
};

/* ---- files ---- */

/* The place of a file; NULL when the table is full and does not have it. */
static struct known_file *find_file(struct search *search, const struct mapping *mapping)
{
	size_t slot = hash_word(mapping->inode ^ mapping->device << 40) % FILES_MAX;

	while (search->files[slot].kind != FILE_UNKNOWN) {
		if (search->files[slot].device == mapping->device &&
		    search->files[slot].inode == mapping->inode)
			return &search->files[slot];
		slot = (slot + 1) % FILES_MAX;
	}
	return search->file_count < FILES_MAX / 2 ? &search->files[slot] : NULL;
}

static void learn_file(struct search *search, const struct mapping *mapping, enum file_kind kind,
		       struct python_version version)
{
	struct known_file *file = find_file(search, mapping);

	/* What runs it may be a Python: nobody knows. */
	search->list->cut = search->list->cut || !file;
	if (!file || file->kind != FILE_UNKNOWN)
		return;
	*file = (struct known_file){
		.device = mapping->device,
		.inode = mapping->inode,
		.kind = kind,
		.version = version,
	};
	search->file_count++;
}

/*
 * Every CPython asks for this variable. To look for its name costs far less than
 * to sort the symbols of every library of the machine.
 */
static bool may_be_interpreter(const struct elf_image *image)
{
	static const char word[] = "PYTHONHOME";
	struct elf_section section;

	if (elf_image_section_find(image, ".rodata", &section) || section.type == SHT_NOBITS ||
	    section.size > RODATA_BYTES_MAX)
		return true;
	return memmem(image->bytes + section.file_offset, section.size, word, sizeof(word)) != NULL;
}

/* ---- one process ---- */

/* Its files that were not yet looked into, opened. */
struct opened {
	pid_t pid;
	struct mapped_files mapped;
	struct mapping_opener opener;
	struct process_memory memory;
	struct memory_reader live;
	struct memory_reader from_files;
	struct module_table *modules;
	struct symbolizer *symbolizer;
};

/* What does not change is in the file, which can be read where the memory cannot. */
static int read_files(void *context, struct memory_range *ranges, size_t count)
{
	const struct opened *opened = context;

	for (size_t i = 0; i < count; i++) {
		const struct module *module = module_find(opened->modules, ranges[i].address);
		const uint8_t *bytes = NULL;
		size_t available = 0;

		if (module && module->image)
			bytes = elf_image_at(module->image, ranges[i].address - module->bias,
					     &available);
		ranges[i].error = bytes && available >= ranges[i].size ? 0 : -EFAULT;
		if (!ranges[i].error)
			memcpy(ranges[i].buffer, bytes, ranges[i].size);
	}
	return 0;
}

static void opened_deinit(struct opened *opened)
{
	if (opened->symbolizer)
		symbolizer_destroy(opened->symbolizer);
	if (opened->modules)
		module_table_destroy(opened->modules);
	process_memory_deinit(&opened->memory);
}

static int opened_init(struct opened *opened, pid_t pid, struct impersonator *impersonator,
		       const struct mapping_list *mappings)
{
	int error;

	*opened = (struct opened){ .pid = pid };
	process_memory_init(&opened->memory, pid);
	opened->mapped = (struct mapped_files){ .pid = pid, .impersonator = impersonator };
	opened->opener = mapped_files_opener(&opened->mapped);
	opened->live = process_memory_reader(&opened->memory);
	opened->from_files = (struct memory_reader){ .read = read_files, .context = opened };
	opened->modules = module_table_create(&opened->opener, NULL);
	opened->symbolizer = symbolizer_create();
	error = opened->modules && opened->symbolizer
			? module_table_update(opened->modules, mappings)
			: -ENOMEM;
	if (error)
		opened_deinit(opened);
	return error;
}

static enum file_kind examine_module(struct opened *opened, const struct module *module,
				     struct python_version *ret_version)
{
	struct struct_layout *layout;
	struct debug_info info;
	enum file_kind kind = FILE_OTHER;

	if (!may_be_interpreter(module->image))
		return FILE_OTHER;
	layout = struct_layout_create(opened->symbolizer, module);
	if (!layout)
		return FILE_OTHER;
	info = struct_layout_debug_info(layout);
	if (python_runtime_in(&info) || python_runtime_hidden_in(&info, &opened->live)) {
		kind = FILE_INTERPRETER;
		if (python_version_find(&info, &opened->from_files, ret_version) &&
		    runtime_search_version(&info, &opened->from_files, ret_version))
			*ret_version = (struct python_version){ 0 };
	}
	struct_layout_destroy(layout);
	return kind;
}

static bool called_python(const char *path)
{
	const char *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path;

	return !strncmp(name, "python", 6) || !strncmp(name, "libpython", 9);
}

/* Looks into those that are new. False: some could not be opened. */
static bool learn_files(struct search *search, pid_t pid, const struct mapping_list *unknown)
{
	struct opened opened;
	bool all = true;

	if (opened_init(&opened, pid, search->impersonator, unknown))
		return false;
	for (size_t i = 0; i < unknown->count; i++) {
		const struct mapping *mapping = &unknown->mappings[i];
		const struct module *module = module_find(opened.modules, mapping->start);
		struct python_version version = { 0 };

		if (!module || module->range.start != mapping->start)
			continue;
		if (module->image)
			learn_file(search, mapping, examine_module(&opened, module, &version),
				   version);
		else if (called_python(mapping->path))
			learn_file(search, mapping, FILE_INTERPRETER, version);
		else if (module->image_error != -ENOEXEC)
			all = false;
	}
	opened_deinit(&opened);
	return all;
}

/* Those files of the map that have code and were never looked into. */
static void keep_unknown(struct search *search, const struct mapping_list *all,
			 struct mapping_list *unknown)
{
	unknown->count = 0;
	for (size_t i = 0; i < all->count; i++) {
		const struct mapping *mapping = &all->mappings[i];
		const struct known_file *file = mapping->inode ? find_file(search, mapping) : NULL;

		if (file && file->kind == FILE_UNKNOWN)
			unknown->mappings[unknown->count++] = *mapping;
		if (mapping->inode && !file)
			search->list->cut = true;
	}
}

static const struct mapping *list_find_interpreter(struct search *search,
						   const struct mapping_list *mappings,
						   struct python_version *ret_version)
{
	for (size_t i = 0; i < mappings->count; i++) {
		const struct mapping *mapping = &mappings->mappings[i];
		const struct known_file *file;

		/* A profiler maps interpreters, too, and does not run them. */
		if (!mapping->inode || !(mapping->protection & PROT_EXEC))
			continue;
		file = find_file(search, mapping);
		if (file && file->kind == FILE_INTERPRETER) {
			*ret_version = file->version;
			return mapping;
		}
	}
	return NULL;
}

static const char *user_name(struct search *search, uid_t uid)
{
	struct passwd entry, *found = NULL;
	struct user_name *user;
	char buffer[4096];

	for (size_t i = 0; i < search->user_count; i++)
		if (search->users[i].uid == uid)
			return search->users[i].name;
	/* The last place serves all for whom there is no room. */
	user = &search->users[search->user_count < USERS_MAX - 1 ? search->user_count++
								 : USERS_MAX - 1];
	user->uid = uid;
	if (!getpwuid_r(uid, &entry, buffer, sizeof(buffer), &found) && found)
		snprintf(user->name, sizeof(user->name), "%.32s", found->pw_name);
	else
		snprintf(user->name, sizeof(user->name), "%u", uid);
	return user->name;
}

static void add_times(struct listed_process *process)
{
	uint64_t tick_ns = NS_PER_SECOND / (uint64_t)sysconf(_SC_CLK_TCK);
	/* As the start times of processes are told: sleep included. */
	uint64_t now_ns = clock_read_ns(CLOCK_BOOTTIME);
	struct process_times times;

	if (procfs_read_times(process->pid, 0, &times))
		return;
	process->measured_ns = clock_now_ns();
	process->cpu_ns = times.user_ns + times.system_ns;
	if (now_ns / tick_ns > times.start_time)
		process->running_ns = now_ns - times.start_time * tick_ns;
}

static int list_add_process(struct search *search, pid_t pid, const struct process_status *status,
			    const char *interpreter, struct python_version version)
{
	struct process_list *list = search->list;
	struct listed_process *process;

	if (list->count == search->most) {
		list->cut = true;
		return 0;
	}
	if (!ARRAY_ROOM(list->items, list->count, search->capacity))
		return -ENOMEM;
	process = &list->items[list->count];
	*process = (struct listed_process){
		.pid = pid,
		.inner_pid = status->inner_pid,
		.uid = status->uid[1],
		.version = version,
		.interpreter = strdup(interpreter),
	};
	if (!process->interpreter)
		return -ENOMEM;
	list->count++;
	snprintf(process->user, sizeof(process->user), "%s", user_name(search, status->uid[1]));
	snprintf(process->name, sizeof(process->name), "%s", status->name);
	process->contained = !container_read(pid, &process->container);
	if (procfs_read_command(pid, &process->command))
		process->command = NULL;
	add_times(process);
	return 0;
}

/* By its names alone: they may be read where nothing else may. */
static void count_denied(struct process_list *list, pid_t pid, const struct process_status *status)
{
	char **command = NULL;
	bool python = called_python(status->name);

	if (!procfs_read_command(pid, &command))
		python = python || (command[0] && called_python(command[0]));
	free(command);
	list->denied++;
	if (python && list->denied_python_count < PROCESS_LIST_DENIED_MAX)
		list->denied_pythons[list->denied_python_count++] = pid;
}

static int list_look_at(struct search *search, pid_t pid)
{
	struct mapping_list mappings = { 0 }, unknown = { 0 };
	const struct mapping *interpreter;
	struct process_status status;
	struct python_version version;
	bool opened = true;
	int error;

	if (procfs_read_status(pid, 0, &status) || procfs_has_ended(pid, status.state))
		return 0;
	error = procfs_read_mappings(pid, &mappings);
	if (error == -EACCES || error == -EPERM) {
		search->list->seen++;
		count_denied(search->list, pid, &status);
		return 0;
	}
	/* A kernel thread has no map. */
	if (error)
		return error == -ENOMEM ? error : 0;
	search->list->seen++;
	unknown.mappings = calloc(mappings.count + 1, sizeof(unknown.mappings[0]));
	if (!unknown.mappings) {
		mapping_list_deinit(&mappings);
		return -ENOMEM;
	}
	keep_unknown(search, &mappings, &unknown);
	unknown.generation = 1;
	if (unknown.count)
		opened = learn_files(search, pid, &unknown);
	interpreter = list_find_interpreter(search, &mappings, &version);
	if (interpreter)
		error = list_add_process(search, pid, &status, interpreter->path, version);
	else if (!opened)
		search->list->unreadable++;
	free(unknown.mappings);
	mapping_list_deinit(&mappings);
	return error;
}

static int list_compare(const void *left, const void *right)
{
	const struct listed_process *a = left, *b = right;

	return a->pid < b->pid ? -1 : a->pid > b->pid;
}

static void measure_cpu(struct process_list *list)
{
	struct timespec interval = { .tv_nsec = CPU_INTERVAL_NS };
	unsigned interruptions = 0;

	if (!list->count)
		return;
	while (interrupted(nanosleep(&interval, &interval), &interruptions))
		;
	for (size_t i = 0; i < list->count; i++) {
		struct listed_process *process = &list->items[i];
		uint64_t before_ns = process->cpu_ns, then_ns = process->measured_ns;

		add_times(process);
		if (process->measured_ns > then_ns && process->cpu_ns > before_ns)
			process->cpu = (double)(process->cpu_ns - before_ns) /
				       (double)(process->measured_ns - then_ns);
	}
}

static int list_look_at_all(struct search *search)
{
	DIR *directory = opendir("/proc");
	const struct dirent *entry;
	int error = 0;

	if (!directory)
		return -errno;
	while (!error && (entry = readdir(directory))) {
		char *end;
		long pid = strtol(entry->d_name, &end, 10);

		if (isdigit((unsigned char)entry->d_name[0]) && !*end && pid > 0 && pid != getpid())
			error = list_look_at(search, (pid_t)pid);
	}
	closedir(directory);
	return error;
}

struct process_list *process_list_take(struct impersonator *impersonator, struct error *error)
{
	return process_list_take_some(PROCESS_LIST_MAX, impersonator, error);
}

struct process_list *process_list_take_some(size_t most, struct impersonator *impersonator,
					    struct error *error)
{
	struct search search = { .list = calloc(1, sizeof(*search.list)),
				 .impersonator = impersonator,
				 .most = most };
	int failure = -ENOMEM;

	search.files = calloc(FILES_MAX, sizeof(search.files[0]));
	if (search.list && search.files)
		failure = list_look_at_all(&search);
	free(search.files);
	if (failure) {
		error_set(error, EXIT_INTERNAL, "the processes could not be listed: %s",
			  strerror(-failure));
		process_list_destroy(search.list);
		return NULL;
	}
	/* There may be no array at all. */
	if (search.list->count)
		qsort(search.list->items, search.list->count, sizeof(search.list->items[0]),
		      list_compare);
	measure_cpu(search.list);
	return search.list;
}

void process_list_destroy(struct process_list *list)
{
	if (!list)
		return;
	for (size_t i = 0; i < list->count; i++) {
		free(list->items[i].interpreter);
		free(list->items[i].command);
	}
	free(list->items);
	free(list);
}
