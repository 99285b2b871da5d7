/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/capture/copy_routine.h"

#include "symbolize/function_group.h"
#include "symbolize/indirect_function.h"

#include <string.h>

#define SLOTS_MAX 16
/* No copy is larger, and no address of a program at its usual place is smaller. */
#define COUNT_MAX (1ull << 40)

static const char *const names[] = { "memcpy", "memmove", "mempcpy" };
#define NAMES (sizeof(names) / sizeof(names[0]))

static void add(struct address_ranges *code, struct address_range range)
{
	if (code->count < ADDRESS_RANGES_MAX && range.start < range.end &&
	    !address_ranges_contain(code, range.start))
		code->items[code->count++] = range;
}

/* What was chosen among several has no name. */
static void add_chosen(struct target *target, const struct module *module,
		       struct address_ranges *code)
{
	uint64_t slots[SLOTS_MAX];
	size_t count = indirect_function_slots(module->image, names, NAMES, slots, SLOTS_MAX);

	for (size_t i = 0; i < count; i++) {
		struct address_range function;
		uint64_t address;

		if (!memory_read_u64(&target->reader, slots[i] + module->bias, &address) &&
		    address_range_contains(module->range, address) &&
		    !unwinder_function_range(target->unwinder, address, &function))
			add(code, function);
	}
}

bool copy_routine_find(struct target *target, struct address_ranges *ret_code)
{
	struct address_ranges code = { .count = 0 }, named;

	for (size_t i = 0; i < module_table_count(target->modules); i++) {
		const struct module *module = module_table_get(target->modules, i);
		enum module_kind kind = target_module_kind(target, module);

		/* musl's library is the loader. */
		if (!module->image || (kind != MODULE_LIBC && kind != MODULE_LOADER))
			continue;
		add_chosen(target, module, &code);
		if (!function_group_find(module->image, names, NAMES, &named))
			for (size_t part = 0; part < named.count; part++)
				add(&code,
				    (struct address_range){ named.items[part].start + module->bias,
							    named.items[part].end + module->bias });
	}
	*ret_code = code;
	return code.count > 0;
}

static uint64_t distance(uint64_t a, uint64_t b)
{
	uint64_t bytes = a > b ? a - b : b - a;

	return bytes < COUNT_MAX ? bytes : 0;
}

static bool repeats(const struct target *target, remote_addr ip)
{
	static const uint8_t rep_movsb[] = { 0xf3, 0xa4 };
	uint8_t code[sizeof(rep_movsb)];

	return !memory_read(&target->code, ip, code, sizeof(code)) &&
	       !memcmp(code, rep_movsb, sizeof(code));
}

/*
 * rax: the destination's beginning (of mempcpy, its end). rdi: where it has got to. rdx: how many
 * bytes, or, in a loop, where the destination ends. rcx: of rep movsb, how many are left.
 */
uint64_t copy_routine_size(const struct target *target, const struct registers *registers)
{
	const uint64_t *general = registers->general;
	uint64_t at = general[REGISTER_RDI], done = distance(at, general[REGISTER_RAX]);
	uint64_t rest = general[REGISTER_RDX];

	if (repeats(target, registers->rip) && general[REGISTER_RCX] < COUNT_MAX)
		return done + general[REGISTER_RCX];
	if (rest >= at || rest >= COUNT_MAX)
		rest = distance(rest, at);
	return done > rest ? done : rest;
}
