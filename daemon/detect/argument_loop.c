/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/detect/argument_loop.h"

#include <errno.h>
#include <string.h>

/* So many samples of a loop in the same round. */
#define SAMPLES_MIN 8

/* No other loop of the function is around it, and it goes over an iterator. */
static bool is_only_for_loop(const struct bytecode *bytecode, const struct loop *loop)
{
	struct loop around;
	size_t i = 0;

	while (i < bytecode->count && bytecode->instructions[i].offset < loop->start)
		i++;
	return i > 0 && i < bytecode->count && bytecode->instructions[i].offset == loop->start &&
	       !strcmp(bytecode->instructions[i].name, "FOR_ITER") &&
	       !loop_find(bytecode, bytecode->instructions[i - 1].offset, &around);
}

int argument_loop_judge(struct argument_facts *facts, const struct argument_log *log,
			struct call_site_table *sites)
{
	for (uint32_t id = 0; id < log->site_count; id++) {
		struct argument_facts *site = &facts[id];
		const struct bytecode *bytecode;

		if (!site->call.in_loop || site->moves || site->seen < SAMPLES_MIN)
			continue;
		bytecode = call_site_bytecode(sites, log->sites[id].code);
		if (!bytecode)
			return -ENOMEM;
		site->stands = site->rounds_told && is_only_for_loop(bytecode, &site->call.loop);
		site->stays = facts[site->code_site].code_seen == site->seen;
	}
	return 0;
}

static bool is_at(const struct cct_node *node, const struct argument_site *site)
{
	return node->frame.kind == FRAME_PYTHON && node->frame.python.code == site->code &&
	       node->frame.python.instruction_offset == site->offset;
}

/* Is a frame in a loop between two of the sample's own frames? */
static int find_loop_between(const struct argument_log *log, const struct cct *cct,
			     struct call_site_table *sites, const struct argument_sample *sample,
			     unsigned inner, unsigned outer, bool *ret_found)
{
	const struct cct_node *node = cct ? cct_node(cct, sample->node) : NULL;
	unsigned next = 0; /* the own frame to come */

	*ret_found = false;
	for (; node && node->parent && next <= outer; node = node->parent) {
		struct call_site site;

		if (is_at(node, &log->sites[sample->frames[next].site])) {
			next++;
			continue;
		}
		if (next <= inner || node->frame.kind != FRAME_PYTHON ||
		    node->frame.python.instruction_offset < 0)
			continue;
		if (call_site_find(sites, node->frame.python.code,
				   node->frame.python.instruction_offset, &site))
			return -ENOMEM;
		if (site.in_loop) {
			*ret_found = true;
			return 0;
		}
	}
	return 0;
}

int argument_loop_calls(const struct argument_facts *facts, const struct argument_log *log,
			const struct cct *cct, struct call_site_table *sites,
			const struct argument_sample *sample, unsigned inner, unsigned outer,
			bool *ret_calls)
{
	const struct argument_facts *around = &facts[sample->frames[outer].site];
	bool between = false;
	int error = 0;

	if (inner != outer && around->call.in_loop && !around->stands && around->stays)
		error = find_loop_between(log, cct, sites, sample, inner, outer, &between);
	if (!error)
		*ret_calls =
			around->call.in_loop && (inner == outer || !(around->stands || between));
	return error;
}
