/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/detect/argument_weight.h"

#include "common/hash.h"
#include "daemon/cct/library_path.h"

#include <errno.h>
#include <stdlib.h>

/* A line of a function: where a sample's program is, whatever it has called there. */
struct weighed_line {
	const struct python_code *code; /* NULL: no Python */
	int line;
	uint64_t tree_ns;
	uint64_t samples_ns;
};

struct weighing {
	struct weighed_line *lines;
	size_t count, capacity;
	struct id_table ids;
};

/* The innermost frame of the program's own; without one, of any Python. */
static const struct frame *own_frame(const struct cct_node *node)
{
	const struct frame *innermost = NULL;

	for (; node; node = node->parent) {
		if (node->frame.kind != FRAME_PYTHON || !node->parent)
			continue;
		if (!path_is_library(node->frame.python.code->file))
			return &node->frame;
		if (!innermost)
			innermost = &node->frame;
	}
	return innermost;
}

static struct weighed_line *line_of(struct weighing *weighing, const struct cct_node *node)
{
	const struct frame *frame = own_frame(node);
	const struct python_code *code = frame ? frame->python.code : NULL;
	int line = frame ? python_code_line(code, frame->python.instruction_offset) : 0;
	uint64_t hash = hash_combine(hash_mix(code ? code->id + 1 : 0), (uint64_t)line);
	size_t probe = 0;
	uint32_t id;

	while ((id = id_table_next(&weighing->ids, hash, &probe)) != ID_NONE)
		if (weighing->lines[id].code == code && weighing->lines[id].line == line)
			return &weighing->lines[id];
	if (weighing->count == weighing->capacity) {
		size_t capacity = weighing->capacity ? 2 * weighing->capacity : 256;
		struct weighed_line *lines =
			reallocarray(weighing->lines, capacity, sizeof(*lines));

		if (!lines)
			return NULL;
		weighing->lines = lines;
		weighing->capacity = capacity;
	}
	if (id_table_reserve(&weighing->ids))
		return NULL;
	id_table_add(&weighing->ids, hash, (uint32_t)weighing->count);
	weighing->lines[weighing->count] = (struct weighed_line){ .code = code, .line = line };
	return &weighing->lines[weighing->count++];
}

static int gather(struct weighing *weighing, const struct argument_log *log, const struct cct *cct)
{
	for (uint32_t id = 0; id < cct_node_count(cct); id++) {
		const struct cct_node *node = cct_node(cct, id);
		uint64_t time_ns = time_sum(node->time_ns);
		struct weighed_line *line = time_ns ? line_of(weighing, node) : NULL;

		if (time_ns && !line)
			return -ENOMEM;
		if (line)
			line->tree_ns += time_ns;
	}
	for (size_t i = 0; i < log->sample_count; i++) {
		struct weighed_line *line;

		if (log->samples[i].timeless)
			continue;
		line = line_of(weighing, cct_node(cct, log->samples[i].node));
		if (!line)
			return -ENOMEM;
		/* One that stands for nothing by itself gets its part, too. */
		line->samples_ns += log->samples[i].time_ns + 1;
	}
	return 0;
}

int argument_log_weigh(struct argument_log *log, const struct cct *cct)
{
	struct weighing weighing = { 0 };
	int error = gather(&weighing, log, cct);

	for (size_t i = 0; !error && i < log->sample_count; i++) {
		struct argument_sample *sample = &log->samples[i];
		const struct weighed_line *line;

		if (sample->timeless)
			continue;
		line = line_of(&weighing, cct_node(cct, sample->node));
		sample->time_ns = (uint64_t)((double)line->tree_ns * (double)(sample->time_ns + 1) /
					     (double)line->samples_ns);
	}
	free(weighing.lines);
	id_table_deinit(&weighing.ids);
	return error;
}
