/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/heap/heap_pprof.h"

#include "common/clock.h"
#include "daemon/heap/heap_tree.h"
#include "daemon/heap/heap_writer.h"
#include "daemon/report/model/container_text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum value {
	VALUE_OBJECTS,
	VALUE_SPACE,
	VALUE_COUNT
};

static uint64_t unix_now_ns(void)
{
	struct timespec now;

	return clock_gettime(CLOCK_REALTIME, &now)
		       ? 0
		       : (uint64_t)now.tv_sec * NS_PER_SECOND + (uint64_t)now.tv_nsec;
}

int heap_pprof_init(struct heap_pprof *pprof, FILE *file, bool several)
{
	int error;

	*pprof = (struct heap_pprof){ .several = several };
	error = pprof_file_init(&pprof->out, file);
	if (error)
		return error;
	pprof_file_value_type(&pprof->out, PROFILE_SAMPLE_TYPE, "inuse_objects", "count");
	pprof_file_value_type(&pprof->out, PROFILE_SAMPLE_TYPE, "inuse_space", "bytes");
	/* Every object is counted, not one of so many bytes. */
	pprof_file_value_type(&pprof->out, PROFILE_PERIOD_TYPE, "space", "bytes");
	protobuf_number(&pprof->out.message, PROFILE_PERIOD, 1);
	protobuf_number(&pprof->out.message, PROFILE_TIME_NANOS, pprof_file_bounded(unix_now_ns()));
	protobuf_number(&pprof->out.message, PROFILE_DEFAULT_SAMPLE_TYPE,
			pprof_file_string(&pprof->out, "inuse_space"));
	pprof_file_flush(&pprof->out);
	return 0;
}

void heap_pprof_deinit(struct heap_pprof *pprof)
{
	pprof_file_deinit(&pprof->out);
}

void heap_pprof_comment(struct heap_pprof *pprof, const char *text)
{
	if (pprof->comment_count < HEAP_PPROF_COMMENTS_MAX)
		pprof->comments[pprof->comment_count++] = pprof_file_string(&pprof->out, text);
}

/* ---- a look */

static const char *title_of(const struct heap_look *look)
{
	const char *name = look->command && look->command[0] ? look->command[0] : "?";
	const char *slash = strrchr(name, '/');

	return slash ? slash + 1 : name;
}

static uint64_t add_location(struct heap_pprof *pprof, const char *words)
{
	/* Of no file. */
	const struct profile_frame frame = { .kind = FRAME_PYTHON, .function = words, .file = "" };

	return pprof_table_location(&pprof->out.table, &frame);
}

static uint64_t add_process(struct heap_pprof *pprof, const struct heap_look *look)
{
	char words[512];

	snprintf(words, sizeof(words), "process %d (%.200s)%s", (int)look->pid, title_of(look),
		 container_suffix(&look->container).text);
	return add_location(pprof, words);
}

static void say_facts(struct heap_pprof *pprof, const struct heap_look *look, size_t folded)
{
	const struct heap_quality *quality = &look->snapshot.quality;
	char words[512];

	snprintf(words, sizeof(words), "pieprofd %s, Python %d.%d.%d, %.100s, pid %d",
		 PIEPROFD_VERSION, look->python.major, look->python.minor, look->python.micro,
		 title_of(look), (int)look->pid);
	heap_pprof_comment(pprof, words);
	if (look->container.id[0]) {
		snprintf(words, sizeof(words), "container %s",
			 container_words(&look->container).text);
		heap_pprof_comment(pprof, words);
	}
	if (look->snapshot.holders == HEAP_HOLDERS_TOO_LARGE) {
		snprintf(words, sizeof(words),
			 "holders are not known: a copy of the process would take more than %llu "
			 "bytes",
			 (unsigned long long)look->memory_bytes);
		heap_pprof_comment(pprof, words);
	}
	if (folded) {
		snprintf(words, sizeof(words),
			 "%zu paths that hold least are part of their holders", folded);
		heap_pprof_comment(pprof, words);
	}
	if (quality->cut_types || quality->cut_paths || quality->cut_blocks ||
	    quality->skipped_bytes)
		heap_pprof_comment(pprof,
				   "there is more than is looked at: not all of it is counted");
}

static void put_labels(struct heap_pprof *pprof, const struct heap_look *look)
{
	struct container_text container = container_words(&look->container);
	char number[16];

	if (!pprof->several)
		return;
	snprintf(number, sizeof(number), "%d", (int)look->pid);
	pprof_file_label(&pprof->out, "pid", number);
	if (container.text[0])
		pprof_file_label(&pprof->out, "container", container.text);
}

/* path: the locations from the root to here; process: outside of it, 0: none. */
static void put_sample(struct heap_pprof *pprof, const struct heap_look *look,
		       const struct heap_node *node, const uint64_t *path, uint64_t process)
{
	const uint64_t values[VALUE_COUNT] = {
		[VALUE_OBJECTS] = pprof_file_bounded(node->count),
		[VALUE_SPACE] = pprof_file_bounded(node->bytes),
	};
	uint64_t stack[HEAP_TREE_DEPTH_MAX + 1]; /* the leaf first */
	size_t depth = 0;

	if (!node->count && !node->bytes)
		return;
	for (size_t i = node->depth + 1; i-- > 0;)
		stack[depth++] = path[i];
	if (process)
		stack[depth++] = process;
	pprof_file_begin_sample(&pprof->out, stack, depth, values, VALUE_COUNT);
	put_labels(pprof, look);
	pprof_file_put(&pprof->out, PROFILE_SAMPLE);
}

static void put_tree(struct heap_pprof *pprof, const struct heap_look *look,
		     const struct heap_tree *tree, uint64_t *locations)
{
	uint64_t process = pprof->several ? add_process(pprof, look) : 0;
	uint64_t path[HEAP_TREE_DEPTH_MAX];

	for (size_t i = 0; i < tree->frame_count; i++) {
		char words[HEAP_FRAME_BYTES];

		heap_frame_words(&tree->frames[i], words);
		locations[i] = add_location(pprof, words);
	}
	for (size_t i = 0; i < tree->node_count && !pprof->out.error; i++) {
		const struct heap_node *node = &tree->nodes[i];

		path[node->depth] = locations[node->frame];
		put_sample(pprof, look, node, path, process);
	}
}

void heap_pprof_add(struct heap_pprof *pprof, const struct heap_look *look)
{
	struct heap_tree tree;
	uint64_t *locations;

	if (heap_tree_init(&tree, &look->snapshot, HEAP_TREE_NODES_MAX)) {
		pprof_file_fail(&pprof->out, -ENOMEM);
		return;
	}
	say_facts(pprof, look, tree.folded);
	locations = calloc(tree.frame_count + 1, sizeof(*locations));
	if (locations)
		put_tree(pprof, look, &tree, locations);
	else
		pprof_file_fail(&pprof->out, -ENOMEM);
	free(locations);
	heap_tree_deinit(&tree);
}

int heap_pprof_finish(struct heap_pprof *pprof)
{
	protobuf_numbers(&pprof->out.message, PROFILE_COMMENT, pprof->comments,
			 pprof->comment_count);
	pprof_file_flush(&pprof->out);
	return pprof_file_finish(&pprof->out);
}

int heap_write_pprof(const struct heap_look *look, const struct writer_options *options, FILE *file)
{
	struct heap_pprof pprof;
	int error = heap_pprof_init(&pprof, file, false);

	(void)options;
	if (error)
		return error;
	heap_pprof_add(&pprof, look);
	error = heap_pprof_finish(&pprof);
	heap_pprof_deinit(&pprof);
	return error;
}
