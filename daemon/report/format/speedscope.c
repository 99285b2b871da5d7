/* SPDX-License-Identifier: Apache-2.0 */
/*
 * speedscope's file format (speedscope.app/file-format-schema.json): the
 * frames once, then sampled profiles, each a list of stacks and a list of
 * weights: all CPU time, by call path; each thread's, in order of time; and each
 * class of time that there is by itself.
 */
#include "daemon/report/encode/escape.h"
#include "daemon/report/format/writer.h"
#include "daemon/report/model/container_text.h"
#include "daemon/report/model/frame_function.h"
#include "daemon/report/model/stack_list.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static const struct {
	const char *name;
	unsigned classes; /* a bit for each enum time_class */
} views[] = {
	{ "CPU time", 1u << TIME_PYTHON | 1u << TIME_NATIVE | 1u << TIME_SYSTEM },
	{ "Python", 1u << TIME_PYTHON },
	{ "native", 1u << TIME_NATIVE },
	{ "system", 1u << TIME_SYSTEM },
};

#define VIEW_COUNT (sizeof(views) / sizeof(views[0]))

/* As large as a reader of JSON takes for a whole number: a recording may have said more. */
static uint64_t speedscope_add(uint64_t sum_ns, uint64_t time_ns)
{
	if (__builtin_add_overflow(sum_ns, time_ns, &sum_ns) || sum_ns > INT64_MAX)
		return INT64_MAX;
	return sum_ns;
}

static uint64_t time_of(const uint64_t time_ns[TIME_CLASS_COUNT], unsigned classes)
{
	uint64_t sum = 0;

	for (unsigned c = 0; c < TIME_CLASS_COUNT; c++)
		sum = speedscope_add(sum, classes & 1u << c ? time_ns[c] : 0);
	return sum;
}

static void speedscope_put_frame(FILE *file, const struct profile_frame *frame)
{
	char buffer[FRAME_FUNCTION_BYTES];
	const char *path = frame->file;

	fputs("{\"name\":", file);
	escape_json(file, frame_function(frame, true, buffer, sizeof(buffer)));
	if (frame->kind == FRAME_NATIVE && frame->native_file)
		path = frame->native_file;
	if (strcmp(path, "?") != 0) {
		fputs(",\"file\":", file);
		escape_json(file, path);
	}
	if (frame->line > 0)
		fprintf(file, ",\"line\":%d", frame->line);
	fputc('}', file);
}

static void speedscope_put_frames(FILE *file, const struct profile_tree *tree)
{
	fputs(",\n\"shared\":{\"frames\":[", file);
	for (size_t i = 0; i < tree->frame_count; i++) {
		fputs(i ? ",\n" : "\n", file);
		speedscope_put_frame(file, &tree->frames[i]);
	}
	fputs("]}", file);
}

/* path is a buffer as long as the deepest stack. */
static void speedscope_put_view(FILE *file, const struct profile_tree *tree, unsigned classes,
				uint32_t *path)
{
	uint64_t sum = 0;
	bool first = true;

	fputs(",\"samples\":[", file);
	for (size_t i = 0; i < tree->node_count && !ferror(file); i++) {
		const struct profile_node *node = &tree->nodes[i];
		uint64_t time_ns = time_of(node->time_ns, classes);

		path[node->depth] = node->frame;
		if (!time_ns)
			continue;
		sum = speedscope_add(sum, time_ns);
		fputs(first ? "\n[" : ",\n[", file);
		first = false;
		for (uint32_t at = 0; at <= node->depth; at++)
			fprintf(file, "%s%" PRIu32, at ? "," : "", path[at]);
		fputc(']', file);
	}
	fputs("],\n\"weights\":[", file);
	first = true;
	for (size_t i = 0; i < tree->node_count; i++) {
		uint64_t time_ns = time_of(tree->nodes[i].time_ns, classes);

		if (!time_ns)
			continue;
		fprintf(file, "%s%" PRIu64, first ? "" : ",", time_ns);
		first = false;
	}
	fprintf(file, "],\n\"startValue\":0,\"endValue\":%" PRIu64 "}", sum);
}

/* The frames of a node's stack, outermost first. */
static void put_stack_of(FILE *file, const struct profile_tree *tree, uint32_t index,
			 uint32_t *path)
{
	uint32_t depth = tree->nodes[index].depth;

	for (uint32_t at = depth + 1; at-- > 0; index = tree->nodes[index].parent)
		path[at] = tree->nodes[index].frame;
	for (uint32_t at = 0; at <= depth; at++)
		fprintf(file, "%s%" PRIu32, at ? "," : "[", path[at]);
	fputc(']', file);
}

static void put_thread_name(FILE *file, const struct profile *profile, uint32_t index)
{
	const struct profile_thread *thread = &profile->facts.threads[index];
	char name[sizeof(thread->name) + 64], process[32] = "";

	if (profile->process_count > 1 && thread->pid)
		snprintf(process, sizeof(process), "process %d: ", (int)thread->pid);
	if (thread->tid)
		snprintf(name, sizeof(name), "%s%.*s (%d)", process, (int)sizeof(thread->name),
			 thread->name, (int)thread->tid);
	else
		snprintf(name, sizeof(name), "%s%.*s", process, (int)sizeof(thread->name),
			 thread->name);
	escape_json(file, name);
}

/* The moments of one thread, which are in order of time. */
static void put_thread(FILE *file, const struct profile *profile,
		       const struct stack_moment *moments, size_t count, uint32_t *path)
{
	uint64_t sum = 0;

	fputs(",\n{\"type\":\"sampled\",\"name\":", file);
	put_thread_name(file, profile, moments->thread);
	fputs(",\"unit\":\"nanoseconds\",\"samples\":[", file);
	for (size_t i = 0; i < count && !ferror(file); i++) {
		fputs(i ? ",\n" : "\n", file);
		put_stack_of(file, &profile->tree, moments[i].node, path);
	}
	fputs("],\n\"weights\":[", file);
	for (size_t i = 0; i < count; i++) {
		uint64_t time_ns = time_of(moments[i].time_ns, views[0].classes);

		sum = speedscope_add(sum, time_ns);
		fprintf(file, "%s%" PRIu64, i ? "," : "", time_ns);
	}
	fprintf(file, "],\n\"startValue\":0,\"endValue\":%" PRIu64 "}", sum);
}

static int put_threads(FILE *file, const struct profile *profile, uint32_t *path)
{
	struct stack_list stacks;
	struct moment_list moments = { 0 };
	int result = stack_list_init(&stacks, profile);

	if (!result)
		result = moment_list_init(&moments, profile, &stacks);
	for (size_t i = 0, end; i < moments.count && !result; i = end) {
		for (end = i + 1; end < moments.count; end++)
			if (moments.items[end].thread != moments.items[i].thread)
				break;
		if (moments.items[i].thread != STACK_THREAD_NONE)
			put_thread(file, profile, &moments.items[i], end - i, path);
	}
	moment_list_deinit(&moments);
	stack_list_deinit(&stacks);
	return result;
}

static int put_views(FILE *file, const struct profile *profile, uint32_t *path)
{
	const struct profile_tree *tree = &profile->tree;
	bool unknown = profile->facts.native_unknown;
	int result = 0;

	fputs(",\n\"profiles\":[", file);
	for (size_t v = 0; v < VIEW_COUNT && !result; v++) {
		uint64_t sum = 0;

		for (size_t i = 0; i < tree->node_count; i++)
			sum = speedscope_add(sum,
					     time_of(tree->nodes[i].time_ns, views[v].classes));
		if (v > 0 && !sum)
			continue;
		/* In which the native time is, too. */
		if (unknown && views[v].classes == 1u << TIME_PYTHON)
			continue;
		fprintf(file, "%s\n{\"type\":\"sampled\",\"name\":\"%s\",\"unit\":\"nanoseconds\"",
			v ? "," : "", views[v].name);
		speedscope_put_view(file, tree, views[v].classes, path);
		if (v == 0)
			result = put_threads(file, profile, path);
	}
	fputs("]}\n", file);
	return result;
}

static void put_head(FILE *file, const struct profile_facts *facts)
{
	char exporter[64], name[64 + sizeof(struct container_text)];

	snprintf(exporter, sizeof(exporter), "pieprofd@%s", facts->version);
	snprintf(name, sizeof(name), "%.*s %d%s", (int)sizeof(facts->target.comm),
		 facts->target.comm, (int)facts->target.pid,
		 container_suffix(&facts->target.container).text);
	fputs("{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\n\"exporter\":",
	      file);
	escape_json(file, exporter);
	fputs(",\n\"name\":", file);
	escape_json(file, name);
	fputs(",\n\"activeProfileIndex\":0", file);
}

static int speedscope_write(const struct profile *profile, const struct writer_options *options,
			    FILE *file)
{
	const struct profile_tree *tree = &profile->tree;
	size_t deepest = 0;
	uint32_t *path;
	int result;

	(void)options;
	for (size_t i = 0; i < tree->node_count; i++)
		if (tree->nodes[i].depth > deepest)
			deepest = tree->nodes[i].depth;
	path = calloc(deepest + 1, sizeof(path[0]));
	if (!path)
		return -ENOMEM;
	put_head(file, &profile->facts);
	speedscope_put_frames(file, tree);
	result = put_views(file, profile, path);
	free(path);
	return result ? result : ferror(file) ? -EIO : 0;
}

const struct writer writer_speedscope = { .name = "speedscope",
					  .extension = ".speedscope.json",
					  .write = speedscope_write };
