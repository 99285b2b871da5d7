/* SPDX-License-Identifier: Apache-2.0 */
/* ELF files of this machine, against readelf and against what ld.so has loaded. */
#include "tests/unit/image_module.h"
#include "tests/unit/symbolize_self.h"

#include <elf.h>
#include <link.h>

/* The lines of a readelf call, one after the other, until callback says true. */
static bool readelf(const char *options, const char *path, bool (*line_is)(const char *, void *),
		    void *context)
{
	char command[4300], line[1024];
	bool found = false;
	FILE *output;

	snprintf(command, sizeof(command), "LC_ALL=C readelf %s '%s' 2>/dev/null", options, path);
	output = popen(command, "re");
	assert_non_null(output);
	while (fgets(line, sizeof(line), output))
		found = found || line_is(line, context);
	pclose(output);
	return found;
}

static bool is_build_id(const char *line, void *context)
{
	const struct elf_image *image = context;
	const char *text = strstr(line, "Build ID: ");

	if (!text)
		return false;
	text += strlen("Build ID: ");
	for (size_t i = 0; i < image->build_id_size; i++) {
		unsigned int byte;

		assert_int_equal(sscanf(text + 2 * i, "%2x", &byte), 1);
		assert_int_equal(byte, image->build_id[i]);
	}
	assert_int_equal(strcspn(text, "\n"), 2 * image->build_id_size);
	return true;
}

struct segment_check {
	const struct elf_image *image;
	size_t loads;
	bool eh_frame_hdr;
};

static bool check_segment(const char *line, void *context)
{
	struct segment_check *check = context;
	unsigned long offset, virtual_address, physical, file_size, memory_size;
	char name[32];

	if (sscanf(line, " %31s %lx %lx %lx %lx %lx", name, &offset, &virtual_address, &physical,
		   &file_size, &memory_size) != 6)
		return false;
	if (strcmp(name, "LOAD") == 0) {
		const struct elf_segment *segment = &check->image->segments[check->loads++];

		assert_int_equal(segment->file_offset, offset);
		assert_int_equal(segment->virtual_address, virtual_address);
		assert_int_equal(segment->file_size, file_size);
		assert_int_equal(segment->memory_size, memory_size);
	} else if (strcmp(name, "GNU_EH_FRAME") == 0) {
		assert_int_equal(check->image->eh_frame_hdr_address, virtual_address);
		assert_int_equal(check->image->eh_frame_hdr_size, memory_size);
		check->eh_frame_hdr = true;
	}
	return false;
}

static bool check_section(const char *line, void *context)
{
	const struct elf_image *image = context;
	struct elf_section section;
	unsigned long address, offset, size;
	unsigned int index;
	char name[64], type[32];

	if (sscanf(line, " [%u] %63s %31s %lx %lx %lx", &index, name, type, &address, &offset,
		   &size) != 6 ||
	    index == 0)
		return false;
	assert_int_equal(elf_image_section(image, index, &section), 0);
	assert_string_equal(section.name, name);
	assert_int_equal(section.virtual_address, address);
	assert_int_equal(section.file_offset, offset);
	assert_int_equal(section.size, size);
	if (strcmp(name, ".eh_frame") == 0) {
		assert_int_equal(image->eh_frame_address, address);
		assert_int_equal(image->eh_frame_size, size);
	}
	return true;
}

static void test_headers_equal_readelf(void **state)
{
	glob_t files;

	(void)state;
	self_find_elf_files(&files);
	assert_true(files.gl_pathc >= 3);
	for (size_t i = 0; i < files.gl_pathc; i++) {
		struct segment_check check = { 0 };
		struct elf_image *image;
		char path[4096];

		/* readelf would see its own /proc/self/exe. */
		assert_non_null(realpath(files.gl_pathv[i], path));
		image = open_image(path);
		check.image = image;
		assert_true(readelf("-nW", path, is_build_id, image) == (image->build_id_size > 0));
		readelf("-lW", path, check_segment, &check);
		assert_int_equal(check.loads, image->segment_count);
		assert_true(check.eh_frame_hdr);
		assert_true(readelf("-SW", path, check_section, image));
		elf_image_close(image);
	}
	globfree(&files);
}

static int visit_object(struct dl_phdr_info *info, size_t size, void *context)
{
	size_t *checked = context;
	const char *path = info->dlpi_name[0] ? info->dlpi_name : "/proc/self/exe";
	struct elf_image *image;

	(void)size;
	if (access(path, R_OK) != 0)
		return 0; /* the vdso */
	image = open_image(path);
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *header = &info->dlpi_phdr[i];
		size_t available;
		const uint8_t *bytes;

		if (header->p_type != PT_LOAD || header->p_flags & PF_W)
			continue;
		bytes = elf_image_at(image, header->p_vaddr, &available);
		assert_non_null(bytes);
		assert_true(available >= header->p_filesz);
		assert_memory_equal(bytes, (const void *)(info->dlpi_addr + header->p_vaddr),
				    header->p_filesz);
		/* The last byte, and the first behind it. */
		assert_non_null(
			elf_image_at(image, header->p_vaddr + header->p_filesz - 1, &available));
		assert_int_equal(available, 1);
	}
	++*checked;
	elf_image_close(image);
	return 0;
}

static void test_bytes_equal_memory(void **state)
{
	size_t checked = 0, available;
	struct elf_image *image;

	(void)state;
	dl_iterate_phdr(visit_object, &checked);
	assert_true(checked >= 3);
	image = open_image("/proc/self/exe");
	assert_null(elf_image_at(image, UINT64_MAX, &available));
	assert_null(elf_image_at(image, 1ull << 40, &available));
	elf_image_close(image);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_headers_equal_readelf),
		cmocka_unit_test(test_bytes_equal_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
