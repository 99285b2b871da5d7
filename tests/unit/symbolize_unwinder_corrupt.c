/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The unwinder on files that lie and on stacks of noise: damaged copies of a
 * real library's unwind tables. Nothing is right or wrong about the stacks
 * that come out; it must end, in bounds, and (under sanitizers) behave.
 */
#include "symbolize/elf_image.h"
#include "tests/unit/unwind_subject.h"

#include <dwarf.h>
#include <link.h>
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#define ROUNDS        2000
#define UNWINDS       24
#define LOAD_ADDRESS  0x7f1200000000u
#define STACK_ADDRESS 0x7ffc00001000u
#define STACK_BYTES   8192
#define MAPPINGS_MAX  8

struct library {
	uint8_t *bytes;
	size_t size;
	struct elf_image *image; /* undamaged */
	struct mapping mappings[MAPPINGS_MAX];
	size_t mapping_count;
	int damaged; /* memfd */
};

static uint64_t random_u64(void)
{
	return (uint64_t)rand() << 42 ^ (uint64_t)rand() << 21 ^ (uint64_t)rand();
}

static int find_library(struct dl_phdr_info *info, size_t size, void *context)
{
	char *path = context;

	(void)size;
	if (strstr(info->dlpi_name, "libcmocka"))
		snprintf(path, PATH_MAX, "%s", info->dlpi_name);
	return 0;
}

static void library_open(struct library *library)
{
	char path[PATH_MAX] = "";
	struct stat status;
	int fd;

	dl_iterate_phdr(find_library, path);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	assert_int_equal(fstat(fd, &status), 0);
	*library = (struct library){ .size = (size_t)status.st_size };
	library->bytes = malloc(library->size);
	assert_int_equal(read(fd, library->bytes, library->size), library->size);
	assert_int_equal(elf_image_open(fd, &library->image), 0);
	close(fd);
	for (size_t i = 0; i < library->image->segment_count; i++) {
		const struct elf_segment *segment = &library->image->segments[i];

		library->mappings[library->mapping_count++] = (struct mapping){
			.start = (LOAD_ADDRESS + segment->virtual_address) & ~(uint64_t)4095,
			.end = (LOAD_ADDRESS + segment->virtual_address + segment->memory_size +
				4095) &
			       ~(uint64_t)4095,
			.file_offset = segment->file_offset & ~(uint64_t)4095,
			.device = 1,
			.inode = 1,
			.protection = PROT_READ | (segment->flags & PF_X ? PROT_EXEC : 0),
			.path = "/library",
		};
	}
	library->damaged = memfd_create("damaged", MFD_CLOEXEC);
	assert_true(library->damaged >= 0);
}

static void library_close(struct library *library)
{
	close(library->damaged);
	elf_image_close(library->image);
	free(library->bytes);
}

static int open_damaged(void *context, const struct mapping *mapping)
{
	const struct library *library = context;

	(void)mapping;
	return dup(library->damaged);
}

static void put_noise(const struct library *library, off_t offset, size_t size)
{
	static const uint32_t edges[] = { 0, 1, 0x7f, 0x80, 0x7fffffff, 0x80000000, 0xffffffff };
	uint32_t word = rand() % 2 ? edges[(size_t)rand() % 7] : (uint32_t)random_u64();
	/* Words where the tables have them, single bytes inside programs. */
	size_t width = rand() % 2 ? 1 : 4;
	off_t at = offset + (off_t)(random_u64() % (size - width));

	if (width == 4)
		at &= ~(off_t)3;
	assert_int_equal(pwrite(library->damaged, &word, width, at), width);
}

/* Writes a new damaged copy. */
static void library_damage(const struct library *library)
{
	const struct elf_image *image = library->image;
	size_t available;
	off_t table = elf_image_at(image, image->eh_frame_address, &available) - image->bytes;
	off_t search = elf_image_at(image, image->eh_frame_hdr_address, &available) - image->bytes;
	unsigned int count = 1u << rand() % 9;

	assert_int_equal(ftruncate(library->damaged, 0), 0);
	assert_int_equal(pwrite(library->damaged, library->bytes, library->size, 0), library->size);
	for (unsigned int i = 0; i < count; i++) {
		if (rand() % 3)
			put_noise(library, table, image->eh_frame_size);
		else
			put_noise(library, search, image->eh_frame_hdr_size);
	}
	/* No search table: the index is built from the damaged entries. */
	if (rand() % 4 == 0) {
		uint8_t omit = DW_EH_PE_omit;

		assert_int_equal(pwrite(library->damaged, &omit, 1, search + 3), 1);
	}
	if (rand() % 16 == 0)
		assert_int_equal(ftruncate(library->damaged, (off_t)(random_u64() % library->size)),
				 0);
}

static remote_addr random_code(const struct library *library)
{
	for (;;) {
		const struct mapping *mapping =
			&library->mappings[(size_t)rand() % library->mapping_count];

		if (mapping->protection & PROT_EXEC)
			return mapping->start + random_u64() % (mapping->end - mapping->start);
	}
}

static void fill_stack(const struct library *library, uint64_t *words)
{
	for (size_t i = 0; i < STACK_BYTES / 8; i++) {
		switch (rand() % 4) {
		case 0:
			words[i] = random_u64();
			break;
		case 1:
			words[i] = STACK_ADDRESS + random_u64() % STACK_BYTES;
			break;
		default:
			words[i] = random_code(library);
		}
	}
}

static unsigned int unwind_noise(const struct library *library, const struct module_table *modules)
{
	static uint64_t words[STACK_BYTES / 8];
	static struct native_frame frames[FRAMES_MAX];
	const struct stack_snapshot stack = { STACK_ADDRESS, sizeof(words),
					      (const uint8_t *)words };
	struct unwinder *unwinder = unwinder_create(modules, NULL);
	unsigned int stepped = 0;

	assert_non_null(unwinder);
	fill_stack(library, words);
	for (unsigned int i = 0; i < UNWINDS; i++) {
		struct address_ranges parts = { .count = 1 };
		struct registers registers = { 0 };
		enum unwind_end end;
		size_t count = FRAMES_MAX + 1;

		for (size_t k = 0; k < REGISTER_COUNT; k++)
			registers.general[k] = words[random_u64() % (STACK_BYTES / 8)];
		if (rand() % 8)
			registers.general[REGISTER_RSP] =
				STACK_ADDRESS + random_u64() % (STACK_BYTES / 4);
		if (rand() % 8)
			registers.general[REGISTER_RBP] =
				STACK_ADDRESS + random_u64() % STACK_BYTES;
		registers.rip = random_code(library);
		if (unwinder_function_range(unwinder, registers.rip, &parts.items[0]) == 0) {
			assert_true(address_range_contains(parts.items[0], registers.rip));
			(void)!unwinder_function_parts(unwinder, parts.items[0], &parts);
			assert_in_range(parts.count, 1, 2);
		}
		parts.items[0].start = random_code(library);
		parts.items[0].end = parts.items[0].start + 1000;
		end = unwinder_unwind(unwinder, &registers, &stack, rand() % 4 ? NULL : &parts,
				      frames, FRAMES_MAX, &count);
		assert_true(end < UNWIND_END_COUNT);
		assert_in_range(count, 1, FRAMES_MAX);
		assert_true(frames[0].pc == registers.rip);
		for (size_t k = 0; k < count; k++)
			assert_true(!frames[k].function || frames[k].module);
		stepped += count > 1;
	}
	unwinder_destroy(unwinder);
	return stepped;
}

static void test_damaged_tables(void **state)
{
	struct library library;
	unsigned int stepped = 0;

	(void)state;
	library_open(&library);
	srand(4);
	for (unsigned int round = 0; round < ROUNDS; round++) {
		const struct mapping_opener opener = { open_damaged, &library };
		const struct mapping_list list = { .mappings = library.mappings,
						   .count = library.mapping_count,
						   .generation = 1 };
		struct module_table *modules = module_table_create(&opener, NULL);

		assert_non_null(modules);
		library_damage(&library);
		assert_int_equal(module_table_update(modules, &list), 0);
		assert_int_equal(module_table_count(modules), 1);
		stepped += unwind_noise(&library, modules);
		module_table_destroy(modules);
	}
	print_message("%u of %u unwinds went on beyond the first frame\n", stepped,
		      ROUNDS * UNWINDS);
	/* Else the damage hides the code it is meant for. */
	assert_true(stepped > ROUNDS * UNWINDS / 4);
	library_close(&library);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_damaged_tables),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
