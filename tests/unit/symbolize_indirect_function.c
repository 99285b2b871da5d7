/* SPDX-License-Identifier: Apache-2.0 */
/* Slots of chosen functions: in this machine's C library, as it is loaded here, and in damaged
 * copies. */
#include "symbolize/indirect_function.h"

#include "tests/unit/image_module.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <stdlib.h>

static const char library[] = "/lib/x86_64-linux-gnu/libc.so.6";
static const char *const copying[] = { "memcpy", "memmove" };

#define SLOTS 8

static uint64_t word_at(uint64_t address)
{
	uint64_t word;

	memcpy(&word, (const void *)(uintptr_t)address, sizeof(word));
	return word;
}

/* What a slot holds is what a call of the function runs. */
static void test_own_library(void **state)
{
	struct elf_image *image = open_image(library);
	void *loaded = dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD);
	uint64_t chosen = (uint64_t)(uintptr_t)dlsym(loaded, "memmove");
	struct link_map *map = NULL;
	uint64_t slots[SLOTS];
	size_t count, right = 0;
	Dl_info where;

	(void)state;
	assert_true(dladdr1((void *)(uintptr_t)chosen, &where, (void **)&map, RTLD_DL_LINKMAP));
	count = indirect_function_slots(image, copying, 2, slots, SLOTS);
	assert_in_range(count, 1, SLOTS);
	for (size_t i = 0; i < count; i++)
		right += word_at(map->l_addr + slots[i]) == chosen;
	assert_true(right > 0);
	assert_int_equal(indirect_function_slots(image, copying, 2, slots, 1), 1);
	assert_int_equal(indirect_function_slots(image, copying, 2, slots, 0), 0);
	dlclose(loaded);
	elf_image_close(image);
}

static void test_other_names(void **state)
{
	static const char *const others[] = { "memcpyy", "memmov", "malloc", "" };
	struct elf_image *image = open_image(library);
	uint64_t slots[SLOTS];

	(void)state;
	assert_int_equal(indirect_function_slots(image, others, 4, slots, SLOTS), 0);
	elf_image_close(image);
}

/* Bytes of the relocations, the symbols and the section table changed: never more than was asked
 * for. */
static void test_damaged(void **state)
{
	static const char *const parts[] = { ".rela.plt", ".dynsym", ".dynstr" };
	struct elf_image *original = open_image(library);
	size_t found = 0;

	(void)state;
	srand(7);
	for (int round = 0; round < 200; round++) {
		uint8_t *copy = malloc(original->size);
		uint64_t slots[SLOTS];
		struct elf_image *image;

		assert_non_null(copy);
		memcpy(copy, original->bytes, original->size);
		for (int i = 0; i < 30; i++) {
			size_t where = original->section_table_offset;
			size_t room = original->section_count * sizeof(Elf64_Shdr);
			struct elf_section section;
			unsigned part = (unsigned)rand() % 4;

			if (part < 3) {
				assert_int_equal(
					elf_image_section_find(original, parts[part], &section), 0);
				where = section.file_offset;
				room = section.size;
			}
			copy[where + (size_t)rand() % room] = (uint8_t)rand();
		}
		if (elf_image_open_memory(copy, original->size, &image)) {
			free(copy);
			continue;
		}
		found += indirect_function_slots(image, copying, 2, slots, SLOTS);
		elf_image_close(image);
	}
	assert_in_range(found, 1, 200 * SLOTS);
	elf_image_close(original);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_own_library),
		cmocka_unit_test(test_other_names),
		cmocka_unit_test(test_damaged),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
