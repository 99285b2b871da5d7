/* SPDX-License-Identifier: Apache-2.0 */
/* The rules of real files against libdw's answers. */
#include "symbolize/cfi.h"
#include "symbolize/eh_frame_hdr.h"
#include "tests/unit/live_process.h"

#include "common/registers.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <link.h>

/* What libdw says of one place, in our terms; false: nothing, or not expressible. */
static bool rule_of_libdw(Dwarf_CFI *cfi, uint64_t address, struct cfi_rule *ret_rule)
{
	static const uint8_t numbers[16] = {
		REGISTER_RAX, REGISTER_RDX, REGISTER_RCX, REGISTER_RBX, REGISTER_RSI, REGISTER_RDI,
		REGISTER_RBP, REGISTER_RSP, REGISTER_R8,  REGISTER_R9,  REGISTER_R10, REGISTER_R11,
		REGISTER_R12, REGISTER_R13, REGISTER_R14, REGISTER_R15
	};
	struct cfi_rule rule = { 0 };
	Dwarf_Op memory[3], *operations;
	Dwarf_Frame *frame;
	bool is_signal;
	size_t count;

	if (dwarf_cfi_addrframe(cfi, address, &frame))
		return false;
	dwarf_frame_info(frame, NULL, NULL, &is_signal);
	if (dwarf_frame_register(frame, 16, memory, &operations, &count) == 0 && count == 0 &&
	    operations == memory) {
		/* Undefined, says libdw with no operations in the caller's memory. */
		*ret_rule = (struct cfi_rule){ .kind = CFI_RULE_END };
		free(frame);
		return true;
	}
	if (dwarf_frame_cfa(frame, &operations, &count) || is_signal || count == 0 ||
	    operations[0].atom < DW_OP_breg0 || operations[0].atom > DW_OP_bregx ||
	    (operations[0].atom > DW_OP_breg15 && operations[0].atom != DW_OP_bregx)) {
		free(frame);
		return false;
	}
	if (operations[0].atom == DW_OP_bregx) {
		if (operations[0].number > 15) {
			free(frame);
			return false;
		}
		rule.cfa_register = numbers[operations[0].number] & 0xf;
		rule.cfa_offset = (int32_t)operations[0].number2;
	} else {
		rule.cfa_register = numbers[operations[0].atom - DW_OP_breg0] & 0xf;
		rule.cfa_offset = (int32_t)operations[0].number;
	}
	if (count == 1) {
		rule.kind = CFI_RULE_REGISTER;
	} else if (count == 2 && operations[1].atom == DW_OP_deref) {
		rule.kind = CFI_RULE_DEREFERENCE;
	} else if (count == 2 && operations[1].atom == DW_OP_plus_uconst) {
		rule.kind = CFI_RULE_REGISTER;
		rule.cfa_offset += (int32_t)operations[1].number;
	} else if (count == 3 && operations[1].atom == DW_OP_deref &&
		   operations[2].atom == DW_OP_plus_uconst && operations[2].number == 8) {
		rule.kind = CFI_RULE_DEREFERENCE_8;
	} else if (count > 4 && operations[1].atom == DW_OP_breg16) {
		rule.kind = CFI_RULE_PLT;
		rule.cfa_offset = operations[4].atom - DW_OP_lit0;
	} else {
		free(frame);
		return false;
	}
	if (dwarf_frame_register(frame, 6, memory, &operations, &count) == 0 && count > 0) {
		/* An expression begins with the CFA on the stack, which this one does not use. */
		if (count == 2 && operations[1].atom == DW_OP_breg6) {
			rule.rbp = CFI_RBP_AT_RBP;
			rule.rbp_offset = (int16_t)operations[1].number;
		} else if (operations[0].atom == DW_OP_call_frame_cfa) {
			rule.rbp = CFI_RBP_AT_CFA;
			rule.rbp_offset = count > 1 ? (int16_t)operations[1].number : 0;
		}
	}
	free(frame);
	*ret_rule = rule;
	return true;
}

/* A row is as long as its rule holds, or shorter where the program repeats itself. */
static void check_row(const struct eh_frame_fde *fde, uint64_t address, const struct cfi_row *row)
{
	const uint64_t inside[] = { row->start, row->end - 1,
				    row->start + (uint64_t)rand() % (row->end - row->start) };

	assert_true(row->start >= fde->start && row->end <= fde->end);
	assert_true(row->start <= address && address < row->end);
	for (size_t i = 0; i < sizeof(inside) / sizeof(inside[0]); i++) {
		struct cfi_row other = cfi_row_at(fde, inside[i]);

		assert_true(other.start == row->start && other.end == row->end);
		assert_memory_equal(&other.rule, &row->rule, sizeof(other.rule));
	}
}

static void compare_file(const char *path, unsigned int addresses)
{
	unsigned int equal = 0, inexpressible = 0, no_answer = 0,
		     kinds[CFI_RULE_COMPLEX + 1] = { 0 };
	uint64_t low = ~(uint64_t)0, high = 0;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct elf_image *image;
	struct eh_frame_hdr table;
	Dwarf_CFI *cfi;
	Elf *elf;

	elf_version(EV_CURRENT);
	assert_true(fd >= 0);
	assert_int_equal(elf_image_open(fd, &image), 0);
	assert_int_equal(eh_frame_hdr_open(image, &table), 0);
	eh_frame_hdr_note_blocks(&table, 1u << 20);
	assert_true(table.block_count > 0);
	elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	cfi = dwarf_getcfi_elf(elf);
	assert_non_null(cfi);
	for (size_t i = 0; i < image->segment_count; i++) {
		const struct elf_segment *segment = &image->segments[i];

		if (!(segment->flags & PF_X))
			continue;
		if (segment->virtual_address < low)
			low = segment->virtual_address;
		if (segment->virtual_address + segment->file_size > high)
			high = segment->virtual_address + segment->file_size;
	}
	srand(3);
	for (unsigned int i = 0; i < addresses; i++) {
		uint64_t address =
			low + (((uint64_t)rand() << 16) ^ (uint64_t)rand()) % (high - low);
		struct cfi_rule ours = { 0 }, theirs = { 0 };
		struct eh_frame_fde fde;
		uint64_t fde_address;

		if (eh_frame_hdr_find(&table, address, &fde_address) == 0 &&
		    eh_frame_fde_at(image, fde_address, NULL, &fde) == 0 && address >= fde.start &&
		    address < fde.end) {
			struct cfi_row row = cfi_row_at(&fde, address);

			ours = row.rule;
			check_row(&fde, address, &row);
		}
		kinds[ours.kind]++;
		if (ours.kind == CFI_RULE_COMPLEX || ours.kind == CFI_RULE_SIGNAL) {
			inexpressible++;
			continue;
		}
		if (!rule_of_libdw(cfi, address, &theirs)) {
			no_answer++;
			assert_int_equal(ours.kind, CFI_RULE_NONE);
			continue;
		}
		if (memcmp(&ours, &theirs, sizeof(ours)) != 0)
			print_message("%s 0x%" PRIx64 ": ours %u %u %d %u %d, libdw %u %u %d %u "
				      "%d\n",
				      path, address, ours.kind, ours.cfa_register, ours.cfa_offset,
				      ours.rbp, ours.rbp_offset, theirs.kind, theirs.cfa_register,
				      theirs.cfa_offset, theirs.rbp, theirs.rbp_offset);
		assert_memory_equal(&ours, &theirs, sizeof(ours));
		equal++;
	}
	print_message(
		"%s: %u addresses, %u equal to libdw's, %u without CFI in both, %u complex or "
		"signal frames, %u PLT, %u dereferences\n",
		path, addresses, equal, no_answer, inexpressible, kinds[CFI_RULE_PLT],
		kinds[CFI_RULE_DEREFERENCE] + kinds[CFI_RULE_DEREFERENCE_8]);
	assert_true(inexpressible <= addresses / 100);
	/* A third of OpenSSL's text is tables and assembly without. */
	assert_true(equal >= addresses / 2);
	eh_frame_hdr_deinit(&table);
	dwarf_cfi_end(cfi);
	elf_end(elf);
	elf_image_close(image);
	close(fd);
}

static int compare_loaded(struct dl_phdr_info *info, size_t size, void *context)
{
	unsigned int *files = context;

	(void)size;
	if (info->dlpi_name[0] == '/') {
		compare_file(info->dlpi_name, 20000);
		++*files;
	}
	return 0;
}

static void test_real_files_against_libdw(void **state)
{
	/* Realigned stacks and hand-written assembly. */
	static const char *const patterns[] = {
		"/usr/lib/*/libcrypto.so.*",
		"/usr/lib/python3/dist-packages/numpy/core/_multiarray_umath*.so",
	};
	struct live_interpreters found = live_interpreters_find();
	unsigned int files = 0;

	(void)state;
	for (size_t i = 0; i < sizeof(patterns) / sizeof(patterns[0]); i++) {
		glob_t matches;

		if (glob(patterns[i], 0, NULL, &matches))
			continue;
		for (size_t k = 0; k < matches.gl_pathc; k++)
			compare_file(matches.gl_pathv[k], 100000);
		globfree(&matches);
	}
	compare_file("/proc/self/exe", 20000);
	dl_iterate_phdr(compare_loaded, &files);
	assert_true(files > 3);
	for (size_t i = 0; i < found.count; i++) {
		/* A small executable is only the front of a libpython. */
		struct stat status;

		if (stat(found.paths[i], &status) == 0 && status.st_size > 1 << 20)
			compare_file(found.paths[i], 100000);
	}
	live_interpreters_free(&found);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_real_files_against_libdw),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
