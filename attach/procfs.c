/* SPDX-License-Identifier: Apache-2.0 */
#include "attach/procfs.h"

#include "common/root_file.h"
#include "common/whole_file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#define PROC_FILE_MAX (64u << 20)

/* Of a process whose main thread has ended: the first that is met lives, but in a race. */
#define LIVING_LOOKED_AT 64

/* A task that ends between open and read gives ESRCH; one that never was, ENOENT. */
static int gone(int error)
{
	return error == ENOENT ? -ESRCH : -error;
}

/* The buffer has a NUL behind size bytes and is the caller's to free. */
static int read_at_most(const char *path, size_t maximum, char **ret_text, size_t *ret_size)
{
	int error = whole_file_read(path, maximum, ret_text, ret_size);

	return error == -ENOENT ? -ESRCH : error;
}

static int read_proc_file(const char *path, char **ret_text, size_t *ret_size)
{
	return read_at_most(path, PROC_FILE_MAX, ret_text, ret_size);
}

static void task_path(char *path, size_t size, pid_t pid, pid_t tid, const char *file)
{
	if (tid)
		snprintf(path, size, "/proc/%d/task/%d/%s", pid, tid, file);
	else
		snprintf(path, size, "/proc/%d/%s", pid, file);
}

const char *procfs_status_value(const char *text, const char *key)
{
	size_t length = strlen(key);

	for (const char *line = text; line && *line; line = strchr(line, '\n')) {
		if (*line == '\n')
			line++;
		if (!strncmp(line, key, length) && line[length] == ':')
			return line + length + 1 + strspn(line + length + 1, " \t");
	}
	return NULL;
}

uint64_t procfs_status_number(const char *text, const char *key, int base)
{
	const char *value = procfs_status_value(text, key);

	return value ? strtoull(value, NULL, base) : 0;
}

static void status_ids(const char *text, const char *key, unsigned ids[3])
{
	const char *value = procfs_status_value(text, key);

	if (!value || sscanf(value, "%u %u %u", &ids[0], &ids[1], &ids[2]) != 3)
		ids[0] = ids[1] = ids[2] = UINT_MAX;
}

void procfs_parse_status(const char *text, struct process_status *ret_status)
{
	struct process_status status = { 0 };
	const char *value = procfs_status_value(text, "Name");

	if (value)
		snprintf(status.name, sizeof(status.name), "%.*s", (int)strcspn(value, "\n"),
			 value);
	value = procfs_status_value(text, "State");
	status.state = value ? *value : '?';
	status.thread_group = (pid_t)procfs_status_number(text, "Tgid", 10);
	status.parent = (pid_t)procfs_status_number(text, "PPid", 10);
	status.tracer = (pid_t)procfs_status_number(text, "TracerPid", 10);
	value = procfs_status_value(text, "NSpid");
	while (value && *value >= '0' && *value <= '9') {
		char *end;

		status.inner_pid = (pid_t)strtol(value, &end, 10);
		value = end + strspn(end, " \t");
	}
	status_ids(text, "Uid", status.uid);
	status_ids(text, "Gid", status.gid);
	status.signals_pending = procfs_status_number(text, "SigPnd", 16);
	status.signals_blocked = procfs_status_number(text, "SigBlk", 16);
	status.signals_caught = procfs_status_number(text, "SigCgt", 16);
	status.capabilities_permitted = procfs_status_number(text, "CapPrm", 16);
	status.capabilities_effective = procfs_status_number(text, "CapEff", 16);
	*ret_status = status;
}

int procfs_read_status(pid_t pid, pid_t tid, struct process_status *ret_status)
{
	char path[64], *text;
	size_t size;
	int error;

	task_path(path, sizeof(path), pid, tid, "status");
	error = read_proc_file(path, &text, &size);
	if (error)
		return error;
	procfs_parse_status(text, ret_status);
	if (!ret_status->inner_pid)
		ret_status->inner_pid = tid ? tid : pid;
	free(text);
	return 0;
}

int procfs_parse_times(const char *text, struct process_times *ret_times)
{
	uint64_t tick_ns = 1000000000ull / (uint64_t)sysconf(_SC_CLK_TCK);
	unsigned long long user, system, start, memory = 0, stack = 0;
	long long children_user, children_system;
	const char *fields;
	int processor = -1;
	char state;

	/* The name in parentheses may hold anything, parentheses included: start behind the last.
	 */
	fields = strrchr(text, ')');
	if (!fields || sscanf(fields + 1,
			      " %c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %llu %llu %lld %lld "
			      "%*d %*d "
			      "%*d %*d %llu %llu %*s %*s %*s %*s %llu "
			      "%*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %d",
			      &state, &user, &system, &children_user, &children_system, &start,
			      &memory, &stack, &processor) < 6)
		return -EPROTO;
	*ret_times = (struct process_times){
		.start_time = start,
		.user_ns = user * tick_ns,
		.system_ns = system * tick_ns,
		.children_ns = ((uint64_t)children_user + (uint64_t)children_system) * tick_ns,
		.state = state,
		.has_memory = memory > 0,
		.stack = stack,
		.processor = processor,
	};
	return 0;
}

int procfs_read_times(pid_t pid, pid_t tid, struct process_times *ret_times)
{
	char path[64], *text;
	size_t size;
	int error;

	task_path(path, sizeof(path), pid, tid, "stat");
	error = read_proc_file(path, &text, &size);
	if (error)
		return error;
	error = procfs_parse_times(text, ret_times);
	free(text);
	return error;
}

/* "running", "-1 SP PC", or "NUMBER six arguments SP PC". */
int procfs_parse_sleep(const char *text, struct process_sleep *ret_sleep)
{
	unsigned long long sp, pc, arguments[6] = { 0 };
	long number;

	if (!strncmp(text, "running", 7))
		return -EAGAIN;
	if (sscanf(text, "%ld %llx %llx %llx %llx %llx %llx %llx %llx", &number, &arguments[0],
		   &arguments[1], &arguments[2], &arguments[3], &arguments[4], &arguments[5], &sp,
		   &pc) != 9 &&
	    (sscanf(text, "%ld %llx %llx", &number, &sp, &pc) != 3 || number != -1))
		return -EPROTO;
	*ret_sleep = (struct process_sleep){ .system_call = number, .ip = pc, .sp = sp };
	for (size_t i = 0; number >= 0 && i < 6; i++)
		ret_sleep->arguments[i] = arguments[i];
	return 0;
}

int procfs_read_sleep(pid_t pid, pid_t tid, struct process_sleep *ret_sleep)
{
	char path[64], *text;
	size_t size;
	int error;

	task_path(path, sizeof(path), pid, tid, "syscall");
	error = read_proc_file(path, &text, &size);
	if (error)
		return error;
	error = procfs_parse_sleep(text, ret_sleep);
	free(text);
	return error;
}

int procfs_read_threads(pid_t pid, pid_t *tids, size_t maximum, size_t *ret_count)
{
	char path[64];
	size_t count = 0;
	struct dirent *entry;
	DIR *directory;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	directory = opendir(path);
	if (!directory)
		return gone(errno);
	while (count < maximum && (entry = readdir(directory))) {
		char *end;
		long tid = strtol(entry->d_name, &end, 10);

		if (end != entry->d_name && !*end && tid > 0)
			tids[count++] = (pid_t)tid;
	}
	closedir(directory);
	if (!count)
		return -ESRCH;
	*ret_count = count;
	return 0;
}

static bool thread_has_memory(pid_t pid, pid_t tid)
{
	struct process_times times;

	return !procfs_read_times(pid, tid, &times) && times.has_memory;
}

pid_t procfs_living_thread(pid_t pid)
{
	pid_t tids[LIVING_LOOKED_AT];
	size_t count;

	if (thread_has_memory(pid, pid) || procfs_read_threads(pid, tids, LIVING_LOOKED_AT, &count))
		return pid;
	for (size_t i = 0; i < count; i++)
		if (tids[i] != pid && thread_has_memory(pid, tids[i]))
			return tids[i];
	return pid;
}

bool procfs_has_ended(pid_t pid, char main_state)
{
	return (main_state == 'Z' || main_state == 'X') && procfs_living_thread(pid) == pid;
}

void procfs_living_path(char path[PROCFS_PATH_SIZE], pid_t pid, const char *file)
{
	pid_t tid = procfs_living_thread(pid);

	/* By way of the process: a thread's number may be another's by then. */
	task_path(path, PROCFS_PATH_SIZE, pid, tid == pid ? 0 : tid, file);
}

void procfs_read_root(pid_t pid, char *root, size_t size)
{
	char link[PROCFS_PATH_SIZE];
	ssize_t length;

	procfs_living_path(link, pid, "root");
	length = readlink(link, root, size);
	/* One that is cut is none. */
	root[length > 1 && (size_t)length < size && root[0] == '/' ? length : 0] = '\0';
}

const char *procfs_path_in_root(const char *path, const char *root)
{
	size_t length = strlen(root);

	if (!length || strncmp(path, root, length) != 0 || (path[length] && path[length] != '/'))
		return path;
	return path + length;
}

static int parse_mapping(char *line, const char *root, char *paths, size_t *paths_size,
			 struct mapping *ret_mapping)
{
	static const char deleted[] = " (deleted)";
	char permissions[5];
	unsigned major_number, minor_number;
	int path_at = 0;
	const char *path;
	size_t length;

	if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %x:%x %" SCNu64 " %n",
		   &ret_mapping->start, &ret_mapping->end, permissions, &ret_mapping->file_offset,
		   &major_number, &minor_number, &ret_mapping->inode, &path_at) != 7)
		return -EPROTO;
	if (ret_mapping->start >= ret_mapping->end || strlen(permissions) != 4)
		return -EPROTO;
	ret_mapping->device = makedev(major_number, minor_number);
	ret_mapping->protection = (permissions[0] == 'r' ? PROT_READ : 0) |
				  (permissions[1] == 'w' ? PROT_WRITE : 0) |
				  (permissions[2] == 'x' ? PROT_EXEC : 0);
	path = procfs_path_in_root(path_at ? line + path_at : line + strlen(line), root);
	length = strlen(path);
	ret_mapping->deleted = length >= sizeof(deleted) - 1 &&
			       !strcmp(path + length - (sizeof(deleted) - 1), deleted);
	if (ret_mapping->deleted)
		length -= sizeof(deleted) - 1;
	memcpy(paths + *paths_size, path, length);
	paths[*paths_size + length] = '\0';
	ret_mapping->path = paths + *paths_size;
	*paths_size += length + 1;
	return 0;
}

static bool same_mappings(const struct mapping_list *a, const struct mapping_list *b)
{
	if (a->count != b->count)
		return false;
	for (size_t i = 0; i < a->count; i++) {
		const struct mapping *x = &a->mappings[i], *y = &b->mappings[i];

		if (x->start != y->start || x->end != y->end || x->file_offset != y->file_offset ||
		    x->device != y->device || x->inode != y->inode ||
		    x->protection != y->protection || x->deleted != y->deleted ||
		    strcmp(x->path, y->path) != 0)
			return false;
	}
	return true;
}

static int parse_mappings(const char *text, size_t size, const char *root,
			  struct mapping_list *list)
{
	struct mapping_list next = { .generation = list->generation + 1 };
	size_t lines = 1, paths_size = 0;
	char *copy, *line, *save = NULL;

	for (size_t i = 0; i < size; i++)
		lines += text[i] == '\n';
	if (lines > PROCFS_MAPPINGS_MAX) {
		next.left_out = lines - PROCFS_MAPPINGS_MAX;
		lines = PROCFS_MAPPINGS_MAX;
	}
	copy = malloc(size + 1);
	next.mappings = calloc(lines, sizeof(*next.mappings));
	next.paths = malloc(size + lines + 1);
	if (!copy || !next.mappings || !next.paths) {
		free(copy);
		mapping_list_deinit(&next);
		return -ENOMEM;
	}
	memcpy(copy, text, size);
	copy[size] = '\0';
	for (line = strtok_r(copy, "\n", &save); line && next.count < lines;
	     line = strtok_r(NULL, "\n", &save)) {
		struct mapping *mapping = &next.mappings[next.count];

		if (parse_mapping(line, root, next.paths, &paths_size, mapping))
			continue;
		/* mapping_find() bisects: a line out of order cannot come from a kernel. */
		if (next.count && mapping->start < mapping[-1].end)
			continue;
		next.count++;
	}
	free(copy);
	if (list->generation && same_mappings(list, &next))
		next.generation = list->generation;
	mapping_list_deinit(list);
	*list = next;
	return 0;
}

int procfs_parse_mappings(const char *text, size_t size, struct mapping_list *list)
{
	return parse_mappings(text, size, "", list);
}

int procfs_read_mappings(pid_t pid, struct mapping_list *list)
{
	char path[PROCFS_PATH_SIZE], root[PATH_MAX], *text;
	size_t size;
	int error;

	procfs_living_path(path, pid, "maps");
	error = read_proc_file(path, &text, &size);
	if (error)
		return error;
	procfs_read_root(pid, root, sizeof(root));
	/* A zombie's map is empty. */
	error = size ? parse_mappings(text, size, root, list) : -ESRCH;
	free(text);
	return error;
}

int procfs_parse_command(const char *text, size_t size, char ***ret_arguments)
{
	size_t count = 0, at = 0;
	char **arguments, *copy;

	if (size > PROCFS_COMMAND_BYTES_MAX)
		size = PROCFS_COMMAND_BYTES_MAX;
	for (size_t i = 0; i < size && count < PROCFS_COMMAND_WORDS_MAX; count++)
		i += strnlen(text + i, size - i) + 1;
	arguments = malloc((count + 1) * sizeof(*arguments) + size + 1);
	if (!arguments)
		return -ENOMEM;
	copy = (char *)(arguments + count + 1);
	memcpy(copy, text, size);
	copy[size] = '\0';
	for (size_t i = 0; i < count; i++) {
		arguments[i] = copy + at;
		at += strlen(copy + at) + 1;
	}
	arguments[count] = NULL;
	*ret_arguments = arguments;
	return 0;
}

int procfs_read_command(pid_t pid, char ***ret_arguments)
{
	char path[PROCFS_PATH_SIZE], *text = NULL;
	size_t size = 0;
	int error;

	procfs_living_path(path, pid, "cmdline");
	error = read_at_most(path, PROCFS_COMMAND_BYTES_MAX, &text, &size);
	if (error)
		return error;
	if (!size) {
		free(text);
		return -ENODATA;
	}
	error = procfs_parse_command(text, size, ret_arguments);
	free(text);
	return error;
}

int procfs_read_cgroups(pid_t pid, char *text, size_t *ret_size)
{
	char path[64];
	ssize_t size;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/cgroup", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return gone(errno);
	size = whole_file_fill(fd, text, PROCFS_CGROUPS_MAX);
	close(fd);
	if (size < 0)
		return (int)size;
	*ret_size = (size_t)size;
	return 0;
}

int procfs_read_setting(const char *path, int fallback)
{
	FILE *file = fopen(path, "re");
	int value = fallback;

	if (!file)
		return fallback;
	if (fscanf(file, "%d", &value) != 1)
		value = fallback;
	fclose(file);
	return value;
}

int procfs_read_executable(pid_t pid, char *path, size_t size)
{
	char link[PROCFS_PATH_SIZE];
	ssize_t length;

	procfs_living_path(link, pid, "exe");
	length = readlink(link, path, size - 1);
	if (length < 0)
		return gone(errno);
	path[length] = '\0';
	return 0;
}

int procfs_open_root(pid_t pid)
{
	char path[PROCFS_PATH_SIZE];
	int fd;

	procfs_living_path(path, pid, "root");
	fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return gone(errno);
	return fd;
}
