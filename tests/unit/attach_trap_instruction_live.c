/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which instruction trapped, on a stepped interpreter, where every access is
 * asked for with the registers behind it.
 */
#include "attach/trap_instruction.h"
#include "common/clock.h"
#include "tests/unit/stepped_process.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define MODULES_MAX 256

/* The table of an .eh_frame_hdr, as it lies in the child's memory. */
struct function_table {
	remote_addr start, end; /* of the module */
	remote_addr header;
	size_t count;
	int32_t *entries; /* pairs: function, FDE; both relative to the header */
};

struct function_tables {
	struct function_table modules[MODULES_MAX];
	size_t count;
};

static void add_module(struct function_tables *tables, const struct live_process *process,
		       remote_addr start, remote_addr end)
{
	struct function_table *table = &tables->modules[tables->count];
	remote_addr low = UINT64_MAX, header = 0;
	struct {
		uint8_t version, pointer_encoding, count_encoding, table_encoding;
		int32_t pointer;
		uint32_t count;
	} fixed;
	Elf64_Phdr segments[32];
	Elf64_Ehdr elf;

	if (tables->count == MODULES_MAX ||
	    memory_read(&process->reader, start, &elf, sizeof(elf)) ||
	    memcmp(elf.e_ident, ELFMAG, SELFMAG) != 0 || elf.e_phnum > 32 ||
	    memory_read(&process->reader, start + elf.e_phoff, segments,
			elf.e_phnum * sizeof(segments[0])))
		return;
	for (unsigned i = 0; i < elf.e_phnum; i++) {
		if (segments[i].p_type == PT_LOAD && segments[i].p_vaddr < low)
			low = segments[i].p_vaddr;
		if (segments[i].p_type == PT_GNU_EH_FRAME)
			header = segments[i].p_vaddr;
	}
	header += start - (low & ~0xfffull);
	/* The one form that linkers write: 4-byte values relative to the header. */
	if (memory_read(&process->reader, header, &fixed, sizeof(fixed)) || fixed.version != 1 ||
	    fixed.count_encoding != 0x03 || fixed.table_encoding != 0x3b)
		return;
	table->entries = malloc(fixed.count * 8ul);
	if (memory_read(&process->reader, header + 12, table->entries, fixed.count * 8ul)) {
		free(table->entries);
		return;
	}
	table->start = start;
	table->end = end;
	table->header = header;
	table->count = fixed.count;
	tables->count++;
}

static void find_modules(struct function_tables *tables, const struct live_process *process)
{
	const struct mapping_list *list = &process->mappings;

	for (size_t i = 0; i < list->count; i++) {
		remote_addr end = list->mappings[i].end;

		if (list->mappings[i].path[0] != '/' || list->mappings[i].file_offset != 0)
			continue;
		for (size_t k = i;
		     k < list->count && strcmp(list->mappings[k].path, list->mappings[i].path) == 0;
		     k++)
			end = list->mappings[k].end;
		add_module(tables, process, list->mappings[i].start, end);
	}
}

static bool find_function(const struct function_tables *tables, const struct live_process *process,
			  remote_addr address, struct address_range *ret)
{
	const struct function_table *table = NULL;
	size_t low = 0, high;
	uint32_t length;

	for (size_t i = 0; i < tables->count; i++)
		if (address >= tables->modules[i].start && address < tables->modules[i].end)
			table = &tables->modules[i];
	if (!table)
		return false;
	for (high = table->count; high - low > 1;) {
		size_t middle = (low + high) / 2;

		if (table->header + (uint64_t)(int64_t)table->entries[2 * middle] <= address)
			low = middle;
		else
			high = middle;
	}
	if (table->count == 0)
		return false;
	ret->start = table->header + (uint64_t)(int64_t)table->entries[2 * low];
	/* FDE: length, CIE pointer, first pc, number of bytes. */
	if (memory_read(&process->reader,
			table->header + (uint64_t)(int64_t)table->entries[2 * low + 1] + 12,
			&length, sizeof(length)))
		return false;
	ret->end = ret->start + length;
	return address_range_contains(*ret, address);
}

/* The aligned word of an access that a debug register would watch. */
static struct address_range watched_word(const struct access *access)
{
	for (uint64_t size = 8; size > 1; size /= 2) {
		remote_addr start = (access->address + size - 1) & ~(size - 1);

		if (start + size <= access->address + access->size)
			return (struct address_range){ start, start + size };
	}
	return (struct address_range){ access->address, access->address + 1 };
}

static bool leaves_rip_elsewhere(const struct stepped_instruction *step)
{
	switch (step->decoded.meta.category) {
	case ZYDIS_CATEGORY_CALL:
	case ZYDIS_CATEGORY_RET:
	case ZYDIS_CATEGORY_UNCOND_BR:
		return true;
	default:
		return false;
	}
}

struct tally {
	unsigned traps, right, operand_known, wrong, no_function, too_far, undecodable;
	unsigned branches, branches_blamed;
	uint64_t nanoseconds;
};

static void ask_for_trap(struct trap_decoder *decoder, const struct stepped_instruction *step,
			 const struct access *access, const struct registers *after,
			 struct address_range function, struct tally *tally)
{
	struct trap_instruction found = { 0 };
	uint64_t before = clock_now_ns();
	int error = trap_decode(decoder, after, function, watched_word(access), &found);

	tally->nanoseconds += clock_now_ns() - before;
	if (leaves_rip_elsewhere(step)) {
		tally->branches++;
		tally->branches_blamed += error == 0;
		return;
	}
	tally->traps++;
	if (error == -E2BIG) {
		tally->too_far++;
		return;
	}
	if (error == -EILSEQ) {
		tally->undecodable++;
		return;
	}
	tally->operand_known += found.operand_known;
	/* Another operand of the instruction may overlap the same word, and be a store. */
	if (!error && found.address == step->registers.rip && found.kinds >= access->kinds &&
	    found.size == access->size && found.element_size == access->element_size &&
	    (!found.operand_known || found.operand == access->address)) {
		tally->right++;
		return;
	}
	tally->wrong++;
	print_message("wrong: %#" PRIx64 " trapped with rip %#" PRIx64 ", error %d, found %#" PRIx64
		      " kinds %u operand %#" PRIx64 " instead of %#" PRIx64 "\n",
		      step->registers.rip, after->rip, error, found.address, found.kinds,
		      found.operand, access->address);
}

static void every_step_is_found_again(void **state)
{
	struct live_process *process = stepped_process_start();
	static struct function_tables tables;
	struct trap_decoder *decoder;
	struct tally tally = { 0 };
	uint64_t seed = 11;

	(void)state;
	if (!process) {
		print_message("skipped: no Python interpreter to step\n");
		skip();
	}
	find_modules(&tables, process);
	decoder = trap_decoder_create(&process->reader);
	for (unsigned stop = 0; stop < 50; stop++) {
		assert_true(stepped_run(process, 500 + stepped_random(&seed) % 3000));
		for (unsigned i = 0; i < 600; i++) {
			struct stepped_instruction step;
			struct address_range function;
			struct registers after;

			if (!stepped_decode(process, &step))
				break;
			assert_true(stepped_step(process->pid));
			if (step.instruction.access_count == 0 ||
			    !stepped_registers(process->pid, &after))
				continue;
			if (!find_function(&tables, process, after.rip, &function)) {
				tally.no_function++;
				continue;
			}
			for (size_t k = 0; k < step.instruction.access_count; k++)
				if (step.instruction.accesses[k].address_known &&
				    (!step.instruction.is_rep_string ||
				     step.registers.general[REGISTER_RCX] != 0))
					ask_for_trap(decoder, &step, &step.instruction.accesses[k],
						     &after, function, &tally);
		}
	}
	live_process_end(process);
	trap_decoder_destroy(decoder);
	for (size_t i = 0; i < tables.count; i++)
		free(tables.modules[i].entries);
	printf("%u accesses: %u right (operand known: %u), %u wrong, %u too far from the start, %u "
	       "in a function that does not decode; %u without an FDE; of %u by branches %u were "
	       "given to another instruction; %.2f us each\n",
	       tally.traps, tally.right, tally.operand_known, tally.wrong, tally.too_far,
	       tally.undecodable, tally.no_function, tally.branches, tally.branches_blamed,
	       (double)tally.nanoseconds / 1e3 / (tally.traps + tally.branches));
	assert_int_equal(tally.wrong, 0);
	assert_true(tally.right > 3000);
	assert_true(tally.undecodable < tally.right / 20);
	assert_true(tally.operand_known > tally.right / 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_step_is_found_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
