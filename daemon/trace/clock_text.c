/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/trace/clock_text.h"

#include "daemon/report/encode/figure.h"
#include "daemon/report/format/json_value.h"
#include "daemon/trace/clock_alignment.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#define HOST_COLUMNS 24

static const char *const basis_names[] = {
	[CLOCK_FIRST] = "first",
	[CLOCK_MESSAGES] = "messages",
	[CLOCK_ONE_SIDE] = "one_side",
	[CLOCK_WALL] = "wall",
};

static void put_node(const struct text_layout *layout, const struct trace *trace, size_t place)
{
	const struct clock_node *node = &trace->clocks->nodes[place];
	const char *host = trace->nodes[place].host;
	const char *side = node->offset_ns < 0 ? "behind" : "ahead";
	struct figure ahead = figure_ns((uint64_t)llabs(node->offset_ns));

	switch (node->basis) {
	case CLOCK_FIRST:
		text_line(layout, "  %-*s all others are set to its clock", HOST_COLUMNS, host);
		break;
	case CLOCK_MESSAGES:
		text_line(layout,
			  "  %-*s %s %s, at most %s wrong, by %" PRIu64 " messages; it gains "
			  "%.1f us a second",
			  HOST_COLUMNS, host, ahead.text, side, figure_ns(node->error_ns).text,
			  node->bounds, node->drift * 1e6);
		break;
	case CLOCK_ONE_SIDE:
		text_line(layout,
			  "  %-*s %s %s: it only sends, or only receives, so that this is at "
			  "least so",
			  HOST_COLUMNS, host, ahead.text, side);
		break;
	default:
		text_line(layout, "  %-*s as its clock on the wall has it: no messages tell",
			  HOST_COLUMNS, host);
	}
}

void clock_text_put(const struct text_layout *layout, const struct trace *trace, size_t rows)
{
	const struct clock_alignment *clocks = trace->clocks;

	if (!clocks || clocks->count < 2)
		return;
	text_heading(layout, "CLOCKS", "of %zu nodes, aligned by their messages", clocks->count);
	for (size_t i = 0; i < clocks->count && i < rows; i++)
		put_node(layout, trace, i);
	if (clocks->count > rows)
		text_line(layout, "  and %zu more: --details", clocks->count - rows);
	if (clocks->contradictions)
		text_line(layout,
			  "  %" PRIu64 " messages are still received before they were sent, by up "
			  "to %s",
			  clocks->contradictions, figure_ns(clocks->worst_ns).text);
	if (!trace->by_order)
		text_line(layout, "  The trace begins in the middle: messages were matched by the "
				  "clocks on the wall.");
}

json_t *clock_json(const struct trace *trace)
{
	json_t *array = json_array();

	for (size_t i = 0; trace->clocks && i < trace->clocks->count; i++) {
		const struct clock_node *node = &trace->clocks->nodes[i];
		json_t *object = json_object();

		object = json_with(object, "host", json_text(trace->nodes[i].host));
		object = json_with(object, "by", json_text(basis_names[node->basis]));
		object = json_with(object, "towards", json_count(node->towards));
		object = json_with(object, "offset_ns", json_integer(node->offset_ns));
		object = json_with(object, "drift", json_real(node->drift));
		object = json_with(object, "error_ns",
				   node->error_ns == UINT64_MAX ? json_null()
								: json_count(node->error_ns));
		object = json_with(object, "messages", json_count(node->bounds));
		array = json_appended(array, object);
	}
	return array;
}
