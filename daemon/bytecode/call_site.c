/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/bytecode/call_site.h"

#include "common/array.h"
#include "common/hash.h"
#include "daemon/bytecode/arguments.h"

#include <errno.h>

void call_site_table_init(struct call_site_table *table)
{
	*table = (struct call_site_table){ 0 };
}

void call_site_table_deinit(struct call_site_table *table)
{
	for (size_t i = 0; i < CALL_SITE_CODES; i++)
		bytecode_deinit(&table->codes[i]);
	free(table->sites);
	id_table_deinit(&table->ids);
}

const struct bytecode *call_site_bytecode(struct call_site_table *table,
					  const struct python_code *code)
{
	struct bytecode *kept = &table->codes[code->id % CALL_SITE_CODES], decoded;

	if (kept->code != code) {
		if (bytecode_init(&decoded, code))
			return NULL;
		bytecode_deinit(kept);
		*kept = decoded;
	}
	return kept;
}

int call_site_find(struct call_site_table *table, const struct python_code *code, int offset,
		   struct call_site *ret_site)
{
	uint64_t hash = hash_mix(hash_mix((uintptr_t)code) ^ (uint32_t)offset);
	struct call_site site = { .code = code, .offset = offset }, *sites;
	const struct bytecode *bytecode;
	size_t probe = 0;
	uint32_t id;

	while ((id = id_table_next(&table->ids, hash, &probe)) != ID_NONE) {
		if (table->sites[id].code == code && table->sites[id].offset == offset) {
			*ret_site = table->sites[id];
			return 0;
		}
	}
	bytecode = call_site_bytecode(table, code);
	if (!bytecode || id_table_reserve(&table->ids))
		return -ENOMEM;
	site.in_loop = loop_find(bytecode, offset, &site.loop);
	site.does = loop_line_at(bytecode, offset, site.in_loop ? &site.loop : NULL);
	sites = array_reserve(table->sites, table->count, &table->capacity, sizeof(*sites));
	if (!sites)
		return -ENOMEM;
	table->sites = sites;
	id_table_add(&table->ids, hash, (uint32_t)table->count);
	sites[table->count++] = site;
	*ret_site = site;
	return 0;
}

int call_site_is_constant(struct call_site_table *table, const struct call_site *site,
			  const struct call_site *caller, bool *ret_constant)
{
	const struct bytecode *bytecode;
	struct arguments arguments;

	*ret_constant = false;
	if (site->in_loop || !caller->in_loop ||
	    caller->loop.end - caller->loop.start > LOOP_BYTES_MAX)
		return 0;
	bytecode = call_site_bytecode(table, caller->code);
	if (!bytecode)
		return -ENOMEM;
	if (!arguments_of_call(bytecode, caller->offset, &caller->loop, site->code->function,
			       &arguments))
		return 0;
	/* The caller's may be gone with that. */
	bytecode = call_site_bytecode(table, site->code);
	if (!bytecode)
		return -ENOMEM;
	*ret_constant = arguments_decide(&arguments, bytecode, site->offset);
	return 0;
}
