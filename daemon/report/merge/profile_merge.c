/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/report/merge/profile_merge.h"

#include "common/array.h"
#include "daemon/report/merge/profile_merge_parts.h"
#include "daemon/report/model/container_text.h"
#include "daemon/report/model/target_text.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define COMMAND_BYTES     256
#define COMMAND_WORDS_MAX 4096

struct profile_merge *profile_merge_create(void)
{
	struct profile_merge *merge = calloc(1, sizeof(*merge));

	if (!merge)
		return NULL;
	if (merge_paths_init(&merge->pair_paths, MERGE_PATHS_MAX) ||
	    merge_paths_init(&merge->tree_paths, PROFILE_NODES_MAX)) {
		profile_merge_destroy(merge);
		return NULL;
	}
	return merge;
}

void profile_merge_set_one_process(struct profile_merge *merge)
{
	merge->one_process = true;
}

void profile_merge_set_fleet(struct profile_merge *merge)
{
	merge->fleet = true;
}

static void free_words(char **words)
{
	for (size_t i = 0; words && words[i]; i++)
		free(words[i]);
	free(words);
}

void profile_merge_destroy(struct profile_merge *merge)
{
	if (!merge)
		return;
	merge_frames_deinit(&merge->frames);
	free_words(merge->command);
	free(merge->lines);
	id_table_deinit(&merge->line_ids);
	free(merge->functions);
	id_table_deinit(&merge->function_ids);
	merge_pairs_free(merge);
	id_table_deinit(&merge->pair_ids);
	merge_paths_deinit(&merge->pair_paths);
	merge_paths_deinit(&merge->tree_paths);
	free(merge->nodes);
	free(merge->threads);
	free(merge->processes);
	merge_sources_free(merge);
	free(merge->stacks);
	id_table_deinit(&merge->stack_ids);
	merge_timelines_deinit(&merge->timelines);
	free(merge);
}

/* ---- facts ---- */

static char **copy_words(const char *const *words)
{
	size_t count = 0;
	char **copy;

	while (words && words[count] && count < COMMAND_WORDS_MAX)
		count++;
	copy = calloc(count + 1, sizeof(*copy));
	if (!copy)
		return NULL;
	for (size_t i = 0; i < count; i++) {
		copy[i] = strdup(words[i]);
		if (!copy[i]) {
			free_words(copy);
			return NULL;
		}
	}
	return copy;
}

static int merge_compare_words(const char *const *a, const char *const *b)
{
	size_t i = 0;
	int order = 0;

	while (a && b && a[i] && b[i] && !order && i < COMMAND_WORDS_MAX) {
		order = strcmp(a[i], b[i]);
		i++;
	}
	return order;
}

/* Which of two stands for the whole: the one that was there first. */
static bool goes_first(const struct profile_facts *a, const struct profile_facts *b)
{
	if (a->target.start_time != b->target.start_time)
		return a->target.start_time < b->target.start_time;
	if (a->target.pid != b->target.pid)
		return a->target.pid < b->target.pid;
	if (a->target.end != b->target.end)
		return a->target.end == PROCESS_REPLACED;
	return merge_compare_words(a->target.command, b->target.command) < 0;
}

static int take_target(struct profile_merge *merge, const struct profile_facts *facts)
{
	char **command = copy_words(facts->target.command);

	if (!command || merge_string(&merge->frames, facts->version, &merge->facts.version) ||
	    merge_string(&merge->frames, facts->sampler, &merge->facts.sampler)) {
		free_words(command);
		return -ENOMEM;
	}
	free_words(merge->command);
	merge->command = command;
	merge->facts.target = facts->target;
	merge->facts.target.command = (const char *const *)command;
	merge->facts.process_started_unix_ns = facts->process_started_unix_ns;
	return 0;
}

static void take_interval(struct profile_facts *into, const struct profile_facts *from)
{
	uint64_t start = into->started_unix_ns, end = start + into->duration_ns;
	uint64_t from_end = from->started_unix_ns + from->duration_ns;

	if (start && from->started_unix_ns) {
		start = start < from->started_unix_ns ? start : from->started_unix_ns;
		end = end > from_end ? end : from_end;
		into->started_unix_ns = start;
		into->duration_ns = end - start;
		return;
	}
	if (!start)
		into->started_unix_ns = from->started_unix_ns;
	if (from->duration_ns > into->duration_ns)
		into->duration_ns = from->duration_ns;
}

static void add_stops(struct stop_histograms *into, const struct stop_histograms *from)
{
	merge_fields(MERGE_HISTOGRAM, &into->all, &from->all);
	merge_fields(MERGE_HISTOGRAM, &into->samples, &from->samples);
	merge_fields(MERGE_HISTOGRAM, &into->breakpoints, &from->breakpoints);
}

static void keep_resident(struct profile_merge *merge, const struct resident_figures *resident)
{
	size_t count = resident->point_count < RESIDENT_POINTS_MAX ? resident->point_count
								   : RESIDENT_POINTS_MAX;

	if (count)
		memcpy(merge->resident_points, resident->points,
		       count * sizeof(merge->resident_points[0]));
	merge->facts.resident = *resident;
	merge->facts.resident.points = merge->resident_points;
	merge->facts.resident.point_count = count;
}

/* Before the interval of the facts becomes that of both. */
static void add_resident(struct profile_merge *merge, const struct profile_facts *facts)
{
	struct profile_facts *into = &merge->facts;
	const struct resident_run a = { &into->resident, into->started_unix_ns };
	const struct resident_run b = { &facts->resident, facts->started_unix_ns };

	if (facts->memory && into->memory)
		into->resident = merge_resident(&a, &b, merge->one_process, merge->resident_points);
	else if (facts->memory)
		keep_resident(merge, &facts->resident);
}

#define KEEP_COMMON(into, from)                                                                    \
	do {                                                                                       \
		if (strcmp(into, from) != 0)                                                       \
			(into)[0] = '\0';                                                          \
	} while (0)

static void note_common(struct profile_merge *merge, const struct profile_target *target)
{
	struct process_labels *labels = &merge->labels;

	if (!merge->any) {
		*labels = target->labels;
		memcpy(merge->host, target->host, sizeof(merge->host));
		return;
	}
	KEEP_COMMON(labels->service, target->labels.service);
	KEEP_COMMON(labels->version, target->labels.version);
	KEEP_COMMON(labels->revision, target->labels.revision);
	KEEP_COMMON(labels->namespace, target->labels.namespace);
	KEEP_COMMON(labels->pod, target->labels.pod);
	KEEP_COMMON(labels->pod_uid, target->labels.pod_uid);
	KEEP_COMMON(merge->host, target->host);
}

static int add_facts(struct profile_merge *merge, const struct profile_facts *facts)
{
	struct profile_facts *into = &merge->facts, counted = *facts;
	const char *limits, *deadlock;

	/* Without samples there was nothing to tell it from, and nothing to count. */
	counted.gil_known |= !facts->samples;

	note_common(merge, &facts->target);
	if (facts->stop_histograms)
		add_stops(&merge->stops, facts->stop_histograms);
	if (merge_string(&merge->frames, facts->sampler_limits, &limits) ||
	    merge_string(&merge->frames, facts->deadlock, &deadlock))
		return -ENOMEM;
	if (!merge->any) {
		*into = counted;
		into->stop_histograms = NULL;
		into->patterns = NULL;
		into->line_info = NULL;
		into->arguments = NULL;
		into->threads = NULL;
		into->thread_count = 0;
		into->open_source = NULL;
		into->source_memory = NULL;
		into->thread_timeline = into->node_timeline = into->stack_timeline =
			(struct profile_timeline){ 0 };
		into->stacks = NULL;
		into->stack_count = 0;
		keep_resident(merge, &facts->resident);
		into->sampler_limits = limits;
		into->deadlock = deadlock;
		merge->any = true;
		return take_target(merge, facts);
	}
	if (!into->sampler_limits || (limits && strcmp(limits, into->sampler_limits) < 0))
		into->sampler_limits = limits;
	if (!into->deadlock || (deadlock && strcmp(deadlock, into->deadlock) < 0))
		into->deadlock = deadlock;
	if (goes_first(facts, into) && take_target(merge, facts))
		return -ENOMEM;
	add_resident(merge, facts);
	take_interval(into, facts);
	if (facts->overhead_limit > into->overhead_limit)
		into->overhead_limit = facts->overhead_limit;
	merge_fields(MERGE_FACTS, into, &counted);
	return 0;
}

/* ---- processes and threads ---- */

const char *process_title(const char *command)
{
	size_t end = strcspn(command, " ");

	while (end > 0 && command[end - 1] != '/')
		end--;
	return command + end;
}

/* Returns the entry that stands for it; NULL: no memory. */
static struct profile_process *merge_put_process(struct profile_merge *merge,
						 const struct profile_process *process)
{
	struct profile_process *last;

	if (merge->process_count >= MERGE_PROCESSES_MAX || !process->pid) {
		last = merge->process_count ? &merge->processes[merge->process_count - 1] : NULL;
		if (last && !last->pid) {
			merge_fields(MERGE_PROCESS, last, process);
			return last;
		}
	}
	if (!ARRAY_ROOM(merge->processes, merge->process_count, merge->process_capacity))
		return NULL;
	last = &merge->processes[merge->process_count];
	*last = *process;
	if (merge->process_count >= MERGE_PROCESSES_MAX) {
		last->pid = last->parent = 0;
		last->end = PROCESS_RUNNING;
		last->command = "";
		last->container = (struct profile_container){ .id = "" };
		last->labels = (struct process_labels){ .service = "" };
	}
	if (merge_string(&merge->frames, last->command, &last->command))
		return NULL;
	merge->process_count++;
	return last;
}

/* A process that has no room is to be the last: its entry is moved behind the others. */
static void keep_others_last(struct profile_merge *merge)
{
	struct profile_process others;

	if (merge->process_count < 2 || merge->processes[merge->process_count - 2].pid)
		return;
	others = merge->processes[merge->process_count - 2];
	merge->processes[merge->process_count - 2] = merge->processes[merge->process_count - 1];
	merge->processes[merge->process_count - 1] = others;
}

/* What processes of one kind have in common. */
static void name_fleet(const struct process_labels *labels, const char *command, char *text,
		       size_t size)
{
	if (labels->service[0])
		snprintf(text, size, "service %s", labels->service);
	else
		snprintf(text, size, "%s", process_title(command));
}

static int merge_add_process(struct profile_merge *merge, const struct profile *profile,
			     pid_t *ret_pid, uint32_t *ret_root)
{
	const struct profile_facts *facts = &profile->facts;
	char command[COMMAND_BYTES], comm[sizeof(facts->target.comm) + 1];
	char label[COMMAND_BYTES + sizeof(struct container_text) + 32];
	struct profile_process process = {
		.pid = facts->target.pid,
		.parent = facts->target.parent,
		.end = facts->target.end,
		.end_status = facts->target.end_status,
		.command = command,
		.container = facts->target.container,
		.labels = facts->target.labels,
		.started_unix_ns = facts->started_unix_ns,
		.samples = facts->samples,
	};
	struct profile_frame frame = { .kind = FRAME_PROCESS, .function = label, .file = "?" };
	const struct profile_process *entry;
	uint32_t id;

	snprintf(comm, sizeof(comm), "%.*s", (int)sizeof(facts->target.comm), facts->target.comm);
	target_command_text(&facts->target, command, sizeof(command));
	if (!command[0])
		snprintf(command, sizeof(command), "%s", comm);
	memcpy(process.time_ns, profile->time_ns, sizeof(process.time_ns));
	entry = merge_put_process(merge, &process);
	if (!entry)
		return -ENOMEM;
	*ret_pid = entry->pid; /* 0: there was no room */
	keep_others_last(merge);
	if (merge->fleet)
		name_fleet(&facts->target.labels, command, label, sizeof(label));
	else if (*ret_pid)
		snprintf(label, sizeof(label), "process %d (%s)%s", (int)*ret_pid,
			 process_title(command), container_suffix(&process.container).text);
	else
		snprintf(label, sizeof(label), "other processes");
	if (merge_frame_find(&merge->frames, &frame, &id))
		return -ENOMEM;
	return merge_path_find(&merge->tree_paths, 0, id, ret_root) == -ENOMEM ? -ENOMEM : 0;
}

static int add_processes(struct profile_merge *merge, const struct profile *profile)
{
	for (size_t i = 0; i < profile->process_count; i++) {
		if (!merge_put_process(merge, &profile->processes[i]))
			return -ENOMEM;
		keep_others_last(merge);
	}
	return 0;
}

/* Those of one name are one; of too many names the last is all others. */
static int add_fleet_thread(struct profile_merge *merge, const struct profile_thread *thread,
			    uint32_t *ret_owner)
{
	size_t i = 0;

	while (i < merge->thread_count && i + 1 < MERGE_FLEET_THREADS_MAX &&
	       strcmp(merge->threads[i].name, thread->name) != 0)
		i++;
	*ret_owner = (uint32_t)i;
	if (i < merge->thread_count) {
		merge_fields(MERGE_THREAD, &merge->threads[i], thread);
		return 0;
	}
	if (!ARRAY_ROOM(merge->threads, merge->thread_count, merge->thread_capacity))
		return -ENOMEM;
	merge->threads[i] = *thread;
	merge->threads[i].pid = merge->threads[i].tid = 0;
	if (i + 1 == MERGE_FLEET_THREADS_MAX)
		snprintf(merge->threads[i].name, sizeof(merge->threads[i].name), "others");
	merge->thread_count++;
	return 0;
}

/* ret_owners: of the profile's threads, which each has come to be. */
static int add_threads(struct profile_merge *merge, const struct profile *profile, pid_t pid,
		       uint32_t *ret_owners)
{
	for (size_t i = 0; i < profile->facts.thread_count; i++) {
		struct profile_thread thread = profile->facts.threads[i];

		if (merge->fleet) {
			if (add_fleet_thread(merge, &thread, &ret_owners[i]))
				return -ENOMEM;
			continue;
		}
		if (!profile->process_count)
			thread.pid = pid;
		if (merge->thread_count >= MERGE_THREADS_MAX) {
			struct profile_thread *last = &merge->threads[merge->thread_count - 1];

			last->pid = last->tid = 0;
			snprintf(last->name, sizeof(last->name), "others");
			merge_fields(MERGE_THREAD, last, &thread);
			ret_owners[i] = (uint32_t)merge->thread_count - 1;
			continue;
		}
		if (!ARRAY_ROOM(merge->threads, merge->thread_count, merge->thread_capacity))
			return -ENOMEM;
		ret_owners[i] = (uint32_t)merge->thread_count;
		merge->threads[merge->thread_count++] = thread;
	}
	return 0;
}

/* ---- the tree ---- */

static int merge_charge_node(struct profile_merge *merge, uint32_t path,
			     const struct profile_node *node)
{
	struct profile_node *known;

	while (path >= merge->node_capacity) {
		size_t larger = merge->node_capacity ? 2 * merge->node_capacity : 256;
		struct profile_node *grown = reallocarray(merge->nodes, larger, sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		for (size_t i = merge->node_capacity; i < larger; i++)
			grown[i] = (struct profile_node){ .flags = UINT32_MAX };
		merge->nodes = grown;
		merge->node_capacity = larger;
	}
	known = &merge->nodes[path];
	merge_fields(MERGE_NODE, known, node);
	known->flags &= node->flags;
	return 0;
}

/* Over a limit, the path is its parent's: its time is the caller's. */
static int find_tree_path(struct profile_merge *merge, uint32_t parent,
			  const struct profile_frame *frame, uint32_t *ret_path, bool *ret_folded)
{
	size_t before = merge->tree_paths.count;
	uint32_t id;
	int result;

	*ret_folded = false;
	if (merge_frame_find(&merge->frames, frame, &id))
		return -ENOMEM;
	if (merge->stack_frames + merge->tree_paths.paths[parent].depth + 1 >
	    PROFILE_STACK_FRAMES_MAX)
		result = -ENOSPC;
	else
		result = merge_path_find(&merge->tree_paths, parent, id, ret_path);
	if (result == -ENOSPC) {
		*ret_path = parent;
		*ret_folded = true;
		merge->nodes_folded++;
		return 0;
	}
	if (merge->tree_paths.count > before)
		merge->stack_frames += merge->tree_paths.paths[*ret_path].depth;
	return result;
}

/* Of a recording that is of several processes: "process 12 (worker.py)" is "worker.py". */
static int find_fleet_path(struct profile_merge *merge, uint32_t parent,
			   const struct profile_frame *frame, uint32_t *ret_path, bool *ret_folded)
{
	struct profile_frame named = *frame;
	const char *begin = strchr(frame->function, '('), *end = strrchr(frame->function, ')');
	char text[COMMAND_BYTES];

	if (begin && end > begin + 1)
		snprintf(text, sizeof(text), "%.*s", (int)(end - begin - 1), begin + 1);
	else
		snprintf(text, sizeof(text), "%s", frame->function);
	named.function = text;
	return find_tree_path(merge, parent, &named, ret_path, ret_folded);
}

/* ret_paths: of the tree's nodes. */
static int add_tree(struct profile_merge *merge, const struct profile_tree *tree, uint32_t root,
		    uint32_t *ret_paths)
{
	static const struct profile_node empty = { 0 };
	int result = 0;

	if (root)
		result = merge_charge_node(merge, root, &empty);
	for (size_t i = 0; i < tree->node_count && !result; i++) {
		const struct profile_node *node = &tree->nodes[i];
		uint32_t parent =
			node->parent == PROFILE_NODE_NONE ? root : ret_paths[node->parent];
		struct profile_node charged = *node;
		bool folded;

		if (merge->fleet && tree->frames[node->frame].kind == FRAME_PROCESS)
			result = find_fleet_path(merge, parent, &tree->frames[node->frame],
						 &ret_paths[i], &folded);
		else
			result = find_tree_path(merge, parent, &tree->frames[node->frame],
						&ret_paths[i], &folded);
		if (folded)
			charged.flags = UINT32_MAX; /* it says nothing of its caller */
		if (!result)
			result = merge_charge_node(merge, ret_paths[i], &charged);
	}
	merge->nodes_folded += tree->nodes_folded;
	return result;
}

/* Threads and the tree, and what each of them had when. */
static int add_owners(struct profile_merge *merge, const struct profile *profile, pid_t pid,
		      uint32_t root)
{
	size_t thread_count = profile->facts.thread_count, node_count = profile->tree.node_count;
	size_t stack_count = profile->facts.stack_count;
	uint32_t *threads = calloc(thread_count + node_count + stack_count + 1, sizeof(*threads));
	uint32_t *paths = threads + thread_count, *stacks = paths + node_count;
	const struct merge_owners owners = { threads,      paths,      stacks,
					     thread_count, node_count, stack_count };
	int result = threads ? add_threads(merge, profile, pid, threads) : -ENOMEM;

	if (!result)
		result = add_tree(merge, &profile->tree, root, paths);
	if (!result)
		result = merge_stacks_add(merge, &profile->facts, &owners, stacks);
	if (!result)
		result = merge_timelines_add(&merge->timelines, profile, &owners);
	free(threads);
	return result;
}

int profile_merge_add(struct profile_merge *merge, const struct profile *profile)
{
	uint32_t root = 0;
	pid_t pid = 0;
	int result = add_facts(merge, &profile->facts);

	if (!result && !merge->one_process)
		result = profile->process_count ? add_processes(merge, profile)
						: merge_add_process(merge, profile, &pid, &root);
	if (!result)
		result = add_owners(merge, profile, pid, root);
	for (size_t i = 0; i < profile->line_count && !result; i++)
		result = merge_line_add(merge, &profile->lines[i]);
	for (size_t i = 0; i < profile->function_count && !result; i++)
		result = merge_function_add(merge, &profile->functions[i]);
	for (size_t i = 0; i < profile->pair_count && !result; i++)
		result = merge_pair_add(merge, &profile->pairs[i]);
	for (size_t i = 0; i < profile->source_count && !result; i++)
		result = merge_source_add(merge, &profile->sources[i]);
	merge_fields(MERGE_PROFILE, &merge->sums, profile);
	merge->pairs_omitted += profile->pairs_omitted;
	return result;
}
