/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A generator that has not begun, as sum(f(x) for x in items) gives one away: its
 * code, what it goes over, and the variables of the functions around it. CPython 3.6
 * to 3.15.
 *
 *   generator -> frame -> code -> how many variables -> these
 */
#include "daemon/contents/fingerprint_internal.h"
#include "pyintrospect/offsets.h"

enum {
	FIRST_MINOR_INLINE = 11, /* the frame lies in the generator */
	FRAME_3_11 = 80,
	FRAME_3_12 = 72,
	VARIABLES_MAX = 12,
	FRAME_BYTES_MAX = 512,
};

#define POINTER_TAGS 3ull /* 3.14+ */

static const struct python_offsets *offsets_of(const struct fingerprints *set)
{
	return &python_layout_builtin(set->minor)->offsets;
}

static remote_addr frame_of(const struct fingerprints *set, const struct content_node *node)
{
	if (set->minor < FIRST_MINOR_INLINE)
		return content_word(node, FIELD_1);
	return node->object + (set->minor == FIRST_MINOR_INLINE ? FRAME_3_11 : FRAME_3_12);
}

static void add_variables(struct fingerprints *set, struct content_node *node, uint64_t count)
{
	const uint8_t *frame = set->arena + node->entries_at;
	size_t first = (size_t)offsets_of(set)->frame_locals;

	node->size = 0;
	node->partial |= count > VARIABLES_MAX;
	for (uint64_t i = 0; i < count && i < VARIABLES_MAX; i++) {
		uint64_t variable;

		memcpy(&variable, frame + first + 8 * i, sizeof(variable));
		variable &= ~(set->minor >= 14 ? POINTER_TAGS : 0);
		if (variable)
			content_child(set, node, variable);
	}
	content_done(node);
}

static void parse_frame(struct fingerprints *set, struct content_node *node,
			const struct memory_range *range)
{
	const struct python_offsets *offsets = offsets_of(set);
	uint64_t code = content_word_of(range, (size_t)offsets->frame_code);

	code &= ~(set->minor >= 14 ? POINTER_TAGS : 0);
	node->own = hash_combine(node->own, code);
	node->entries_at = (uint32_t)((const uint8_t *)range->buffer - set->arena);
	if (set->minor < FIRST_MINOR_INLINE) {
		uint64_t stack = content_word_of(range, (size_t)offsets->frame_stack);
		uint64_t variables = range->address + (uint64_t)offsets->frame_locals;

		if (stack < variables)
			content_opaque(node);
		else
			add_variables(set, node, (stack - variables) / 8);
		return;
	}
	content_request(set, node, code + (uint64_t)offsets->code_locals, 4, true);
	node->stage = STAGE_THIRD;
}

void content_parse_generator(struct fingerprints *set, struct content_node *node,
			     const struct memory_range *ranges, size_t count)
{
	size_t size = (size_t)offsets_of(set)->frame_locals + 8 * (size_t)VARIABLES_MAX;
	uint32_t variables;

	if (node->stage == STAGE_CONTENT) {
		if (node->depth == 0 || size > FRAME_BYTES_MAX ||
		    !content_plausible(frame_of(set, node))) {
			content_by_identity(node, CONTENT_OTHER);
			return;
		}
		content_request(set, node, frame_of(set, node), size, true);
		node->stage = STAGE_SECOND;
		return;
	}
	if (!count || ranges[0].error) {
		content_opaque(node);
		return;
	}
	if (node->stage == STAGE_SECOND) {
		parse_frame(set, node, &ranges[0]);
		return;
	}
	memcpy(&variables, ranges[0].buffer, sizeof(variables));
	add_variables(set, node, variables);
}
