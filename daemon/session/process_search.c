/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/session/process_search.h"

#include "attach/cgroup.h"
#include "attach/cgroup_mount.h"
#include "attach/procfs.h"
#include "common/clock.h"
#include "daemon/report/encode/escape.h"
#include "daemon/session/name_pattern.h"
#include "daemon/session/strangers.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ANCESTORS_MAX 64

char *process_command_line(pid_t pid)
{
	char **words, *text = NULL;
	size_t size = 0;
	FILE *file;

	if (procfs_read_command(pid, &words))
		return NULL;
	file = open_memstream(&text, &size);
	for (size_t i = 0; file && words[i]; i++)
		fprintf(file, "%s%s", i ? " " : "", words[i]);
	if (file)
		fclose(file);
	free(words);
	return text;
}

static bool has_libpython(pid_t pid)
{
	struct mapping_list mappings = { 0 };
	bool found = false;

	if (!procfs_read_mappings(pid, &mappings))
		for (size_t i = 0; i < mappings.count && !found; i++)
			found = mappings.mappings[i].path &&
				!strncmp(path_last(mappings.mappings[i].path), "libpython", 9);
	mapping_list_deinit(&mappings);
	return found;
}

bool process_seems_python(pid_t pid)
{
	char executable[4096];

	if (procfs_read_executable(pid, executable, sizeof(executable)))
		return false;
	return !strncmp(path_last(executable), "python", 6) || has_libpython(pid);
}

/* Ourselves, sudo and the shell before it: their command lines have the pattern, too. */
static size_t find_ancestors(pid_t ancestors[ANCESTORS_MAX])
{
	struct process_status status;
	size_t count = 0;

	for (pid_t pid = getpid(); pid > 1 && count < ANCESTORS_MAX; pid = status.parent) {
		ancestors[count++] = pid;
		if (procfs_read_status(pid, 0, &status))
			break;
	}
	return count;
}

static bool is_among(pid_t pid, const pid_t *pids, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (pids[i] == pid)
			return true;
	return false;
}

static int compare_pids(const void *left, const void *right)
{
	pid_t a = *(const pid_t *)left, b = *(const pid_t *)right;

	return a < b ? -1 : a > b;
}

static bool matches(pid_t pid, const struct process_query *query,
		    const struct name_pattern *pattern)
{
	bool result = true;

	if (query->name) {
		char *text = process_command_line(pid);

		result = text && name_pattern_matches(pattern, text);
		free(text);
	}
	return result && (!query->cgroup || cgroup_contains(pid, query->cgroup));
}

static bool is_passed_over(pid_t pid, const struct process_query *query)
{
	return (query->is_known && query->is_known(query->context, pid)) ||
	       (query->strangers && strangers_pass(query->strangers, pid));
}

int process_search(const struct process_query *asked, struct pid_list *ret_found,
		   size_t *ret_others)
{
	struct process_query query = *asked;
	char cgroup[CGROUP_PATH_SIZE];
	pid_t ancestors[ANCESTORS_MAX];
	size_t ancestor_count = find_ancestors(ancestors), others = 0;
	struct dirent *entry;
	struct name_pattern *pattern;
	char problem[128];
	DIR *folder;
	int error;

	ret_found->count = 0;
	if (query.cgroup && query.cgroup[0] == '/' && cgroup_mount_find(query.cgroup, cgroup))
		query.cgroup = cgroup;
	error = name_pattern_new(query.name ? query.name : "", &pattern, problem, sizeof(problem));
	if (error)
		return error;
	folder = opendir("/proc");
	if (!folder) {
		error = -errno;
		name_pattern_free(pattern);
		return error;
	}
	if (query.strangers)
		strangers_begin(query.strangers, clock_now_ns());
	while (!error && (entry = readdir(folder))) {
		pid_t pid = isdigit((unsigned char)entry->d_name[0])
				    ? (pid_t)strtol(entry->d_name, NULL, 10)
				    : 0;

		if (pid <= 0 || is_among(pid, ancestors, ancestor_count) ||
		    is_passed_over(pid, &query) || !matches(pid, &query, pattern))
			continue;
		if (process_seems_python(pid)) {
			error = pid_list_add(ret_found, pid);
		} else {
			others++;
			if (query.strangers)
				strangers_add(query.strangers);
		}
	}
	if (query.strangers)
		strangers_end(query.strangers);
	closedir(folder);
	name_pattern_free(pattern);
	if (ret_found->count)
		qsort(ret_found->items, ret_found->count, sizeof(pid_t), compare_pids);
	if (ret_others)
		*ret_others = others;
	return error;
}

void process_search_print(FILE *file, const struct pid_list *pids)
{
	for (size_t i = 0; i < pids->count; i++) {
		char *text = process_command_line(pids->items[i]);
		char *shown = escape_printable(text ? text : "?", '\0');

		fprintf(file, "  %7d  %.100s\n", (int)pids->items[i], shown ? shown : "?");
		free(shown);
		free(text);
	}
}
