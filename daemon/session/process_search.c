/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/session/process_search.h"

#include "attach/births.h"
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

/* Of its libraries a look takes ten times as long. */
static bool seems_python(pid_t pid, bool with_libraries)
{
	char executable[4096];

	if (procfs_read_executable(pid, executable, sizeof(executable)))
		return false;
	return !strncmp(path_last(executable), "python", 6) ||
	       (with_libraries && has_libpython(pid));
}

bool process_seems_python(pid_t pid)
{
	return seems_python(pid, true);
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

/* What is the same for all processes of a search. */
struct search {
	struct process_query query;
	char cgroup[CGROUP_PATH_SIZE];
	pid_t ancestors[ANCESTORS_MAX];
	size_t ancestor_count;
	struct name_pattern *pattern;
};

static int search_begin(struct search *search, const struct process_query *asked)
{
	const char *cgroup = asked->cgroup;
	char problem[128];

	search->query = *asked;
	search->ancestor_count = find_ancestors(search->ancestors);
	if (cgroup && cgroup[0] == '/' && cgroup_mount_find(cgroup, search->cgroup))
		search->query.cgroup = search->cgroup;
	return name_pattern_new(asked->name ? asked->name : "", &search->pattern, problem,
				sizeof(problem));
}

struct beginners {
	const struct process_query *query;
	struct pid_list *found;
	int error;
};

/* A library is there as soon as the program is: one look for it will do. */
static void meet_born(void *context, pid_t pid, unsigned looks)
{
	struct beginners *beginners = context;
	const struct process_query *query = beginners->query;

	if (!beginners->error && !(query->is_known && query->is_known(query->context, pid)) &&
	    seems_python(pid, looks == BIRTHS_LOOKS / 4))
		beginners->error = pid_list_add(beginners->found, pid);
}

int process_search_births(const struct process_query *asked, struct births *births,
			  struct pid_list *ret_found)
{
	struct beginners beginners = { asked, ret_found, 0 };
	struct process_status status;
	struct search search;
	size_t count = 0;
	int error;

	ret_found->count = 0;
	births_look(births, meet_born, &beginners);
	if (beginners.error || !ret_found->count)
		return beginners.error;
	error = search_begin(&search, asked);
	if (error)
		return error;
	for (size_t i = 0; i < ret_found->count; i++) {
		pid_t pid = ret_found->items[i];

		/* A thread's number can be looked up, too. */
		if (!procfs_read_status(pid, 0, &status) && status.thread_group == pid &&
		    !is_among(pid, search.ancestors, search.ancestor_count) &&
		    matches(pid, &search.query, search.pattern))
			ret_found->items[count++] = pid;
	}
	ret_found->count = count;
	name_pattern_free(search.pattern);
	return 0;
}

int process_search(const struct process_query *asked, struct pid_list *ret_found,
		   size_t *ret_others)
{
	struct process_query query;
	struct search search;
	size_t others = 0;
	struct dirent *entry;
	DIR *folder;
	int error;

	ret_found->count = 0;
	error = search_begin(&search, asked);
	if (error)
		return error;
	query = search.query;
	folder = opendir("/proc");
	if (!folder) {
		error = -errno;
		name_pattern_free(search.pattern);
		return error;
	}
	if (query.strangers)
		strangers_begin(query.strangers, clock_now_ns());
	while (!error && (entry = readdir(folder))) {
		pid_t pid = isdigit((unsigned char)entry->d_name[0])
				    ? (pid_t)strtol(entry->d_name, NULL, 10)
				    : 0;

		if (pid <= 0 || is_among(pid, search.ancestors, search.ancestor_count) ||
		    is_passed_over(pid, &query) || !matches(pid, &query, search.pattern))
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
	name_pattern_free(search.pattern);
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
