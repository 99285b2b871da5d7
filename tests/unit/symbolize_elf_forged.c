/* SPDX-License-Identifier: Apache-2.0 */
/* ELF files that no linker makes: cut, refused, corrupted, with too much of anything. */
#include "tests/unit/image_module.h"
#include "tests/unit/symbolize_self.h"
#include "tests/unit/under_valgrind.h"

#include <elf.h>
#include <sys/stat.h>

static uint8_t *read_file(const char *path, size_t *ret_size)
{
	struct stat status;
	uint8_t *bytes;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(fstat(fd, &status), 0);
	bytes = malloc((size_t)status.st_size);
	assert_non_null(bytes);
	for (size_t done = 0; done < (size_t)status.st_size;) {
		ssize_t got = read(fd, bytes + done, (size_t)status.st_size - done);

		assert_true(got > 0);
		done += (size_t)got;
	}
	close(fd);
	*ret_size = (size_t)status.st_size;
	return bytes;
}

/* Cutting the section table off leaves .eh_frame to be found through .eh_frame_hdr. */
static void test_without_sections(void **state)
{
	struct elf_image *image, *cut;
	struct elf_section section;
	Elf64_Ehdr header;
	uint8_t *bytes;
	size_t size;

	(void)state;
	image = open_image("/lib/x86_64-linux-gnu/libc.so.6");
	bytes = read_file("/lib/x86_64-linux-gnu/libc.so.6", &size);
	memcpy(&header, bytes, sizeof(header));
	header.e_shoff = 0;
	header.e_shnum = 0;
	memcpy(bytes, &header, sizeof(header));
	assert_int_equal(elf_image_open_memory(bytes, size, &cut), 0);
	assert_int_equal(cut->section_count, 0);
	assert_int_equal(elf_image_section_find(cut, ".eh_frame", &section), -ENOENT);
	assert_int_equal(cut->eh_frame_address, image->eh_frame_address);
	assert_true(cut->eh_frame_size >= image->eh_frame_size);
	assert_int_equal(cut->build_id_size, image->build_id_size);
	assert_memory_equal(cut->build_id, image->build_id, image->build_id_size);
	elf_image_close(cut);
	elf_image_close(image);
}

static void expect_refused(const void *bytes, size_t size)
{
	struct elf_image *image = NULL;
	void *copy = malloc(size ? size : 1);

	assert_non_null(copy);
	memcpy(copy, bytes, size);
	assert_int_equal(elf_image_open_memory(copy, size, &image), -ENOEXEC);
	assert_null(image);
	free(copy);
}

static void test_refusals(void **state)
{
	struct elf_image *image = NULL;
	Elf64_Ehdr original, header;
	uint8_t *bytes;
	size_t size;
	int fd;

	(void)state;
	bytes = read_file("/lib64/ld-linux-x86-64.so.2", &size);
	memcpy(&original, bytes, sizeof(original));
	expect_refused(bytes, 0);
	expect_refused(bytes, sizeof(header) - 1);
	expect_refused(bytes, sizeof(header)); /* program headers missing */

	for (int i = 0; i < 8; i++) {
		header = original;
		switch (i) {
		case 0:
			header.e_ident[EI_CLASS] = ELFCLASS32;
			break;
		case 1:
			header.e_ident[EI_DATA] = ELFDATA2MSB;
			break;
		case 2:
			header.e_machine = EM_AARCH64;
			break;
		case 3:
			header.e_type = ET_REL;
			break;
		case 4:
			header.e_phoff = UINT64_MAX - 8;
			break;
		case 5:
			header.e_phnum = 0;
			break;
		case 6:
			header.e_phentsize = 32;
			break;
		case 7:
			header.e_ident[0] = 0;
			break;
		}
		memcpy(bytes, &header, sizeof(header));
		expect_refused(bytes, size);
	}
	free(bytes);

	fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	assert_int_equal(elf_image_open(fd, &image), -ENOEXEC);
	close(fd);
	fd = open(".", O_RDONLY | O_CLOEXEC);
	assert_int_equal(elf_image_open(fd, &image), -ENOEXEC);
	close(fd);
	assert_true(elf_image_open(-1, &image) == -EBADF);
	assert_null(image);
}

/* Reads everything an image points to, so that a sanitizer sees what lies outside. */
static uint64_t touch(const struct elf_image *image)
{
	uint64_t sum = 0;
	size_t available;
	const uint8_t *bytes;

	assert_true(image->segment_count <= ELF_IMAGE_SEGMENTS_MAX);
	assert_true(image->build_id_size <= sizeof(image->build_id));
	for (size_t i = 0; i < image->segment_count; i++) {
		bytes = elf_image_at(image, image->segments[i].virtual_address, &available);
		if (bytes && available)
			sum += bytes[0] + bytes[available - 1];
	}
	if (image->eh_frame_address) {
		bytes = elf_image_at(image, image->eh_frame_address, &available);
		assert_non_null(bytes);
		assert_true(image->eh_frame_size <= available);
	}
	if (image->eh_frame_hdr_address) {
		bytes = elf_image_at(image, image->eh_frame_hdr_address, &available);
		assert_non_null(bytes);
		assert_true(image->eh_frame_hdr_size <= available);
	}
	for (size_t i = 0; i < image->section_count && i < 256; i++) {
		struct elf_section section;

		if (elf_image_section(image, i, &section) != 0)
			continue;
		sum += strlen(section.name);
		if (section.type != SHT_NOBITS && section.size)
			sum += image->bytes[section.file_offset] +
			       image->bytes[section.file_offset + section.size - 1];
	}
	return sum;
}

static uint32_t next_random(uint64_t *seed)
{
	*seed = *seed * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(*seed >> 33);
}

/*
 * Flips bytes where the parser looks (headers at the start, the section table
 * at the end, notes) and cuts files off. Each copy is its own allocation, so
 * that one byte too far is seen.
 */
static void test_corrupted_copies(void **state)
{
	uint64_t seed = 20240611, sum = 0;
	size_t accepted = 0, refused = 0, size;
	uint8_t *original = read_file("/lib64/ld-linux-x86-64.so.2", &size);

	(void)state;
	for (int round = 0; round < 4000; round++) {
		size_t copy_size = size;
		size_t flips = 1 + next_random(&seed) % 16;
		struct elf_image *image;
		uint8_t *copy;

		if (round % 4 == 0)
			copy_size = next_random(&seed) % (round % 8 ? 4096 : size);
		copy = malloc(copy_size ? copy_size : 1);
		assert_non_null(copy);
		memcpy(copy, original, copy_size);
		for (size_t i = 0; i < flips && copy_size > 2048; i++) {
			size_t where = next_random(&seed) % (round % 3 == 0 ? 2048 : 1024);

			if (round % 3 == 1)
				where = copy_size - 1 - where;
			copy[where] = (uint8_t)(next_random(&seed) % 5 ? next_random(&seed) : 0xff);
		}
		if (elf_image_open_memory(copy, copy_size, &image) == 0) {
			sum += touch(image);
			accepted++;
			elf_image_close(image);
		} else {
			refused++;
			free(copy);
		}
	}
	assert_true(accepted > 100 && refused > 100 && sum > 0);
	free(original);
}

/* A note that claims more than there is, and numbers that wrap. */
static void test_lying_sizes(void **state)
{
	struct {
		Elf64_Ehdr header;
		Elf64_Phdr segments[3];
		Elf64_Nhdr note;
		char name[4];
		uint8_t build_id[8];
	} file = { 0 };
	struct elf_image *image;
	size_t available;
	void *copy;

	(void)state;
	memcpy(file.header.e_ident, ELFMAG, SELFMAG);
	file.header.e_ident[EI_CLASS] = ELFCLASS64;
	file.header.e_ident[EI_DATA] = ELFDATA2LSB;
	file.header.e_ident[EI_VERSION] = EV_CURRENT;
	file.header.e_machine = EM_X86_64;
	file.header.e_type = ET_DYN;
	file.header.e_phoff = sizeof(file.header);
	file.header.e_phnum = 3;
	file.header.e_phentsize = sizeof(Elf64_Phdr);
	file.header.e_shoff = UINT64_MAX - 63;
	file.header.e_shnum = 2;
	file.header.e_shentsize = sizeof(Elf64_Shdr);
	file.segments[0] = (Elf64_Phdr){ .p_type = PT_LOAD,
					 .p_flags = PF_X,
					 .p_vaddr = 0x1000,
					 .p_filesz = UINT64_MAX,
					 .p_memsz = 1 << 20 };
	file.segments[1] = (Elf64_Phdr){ .p_type = PT_NOTE,
					 .p_offset = offsetof(__typeof__(file), note),
					 .p_filesz = UINT64_MAX };
	file.segments[2] = (Elf64_Phdr){ .p_type = PT_GNU_EH_FRAME,
					 .p_vaddr = 0x1000 + sizeof(file) - 3,
					 .p_memsz = UINT64_MAX };
	file.note = (Elf64_Nhdr){ .n_namesz = 4, .n_descsz = 8, .n_type = NT_GNU_BUILD_ID };
	memcpy(file.name, "GNU", 4);
	memcpy(file.build_id, "12345678", 8);

	copy = malloc(sizeof(file));
	memcpy(copy, &file, sizeof(file));
	assert_int_equal(elf_image_open_memory(copy, sizeof(file), &image), 0);
	assert_int_equal(image->segments[0].file_size, sizeof(file));
	assert_int_equal(image->section_count, 0);
	assert_int_equal(image->eh_frame_hdr_address, 0);
	assert_int_equal(image->build_id_size, 8);
	assert_memory_equal(image->build_id, "12345678", 8);
	assert_int_equal(image->build_id_address, 0x1000 + offsetof(__typeof__(file), build_id));
	assert_non_null(elf_image_at(image, 0x1000 + sizeof(file) - 1, &available));
	assert_null(elf_image_at(image, 0x1000 + sizeof(file), &available));
	elf_image_close(image);

	file.note.n_descsz = 9;
	copy = malloc(sizeof(file));
	memcpy(copy, &file, sizeof(file));
	assert_int_equal(elf_image_open_memory(copy, sizeof(file), &image), 0);
	assert_int_equal(image->build_id_size, 0);
	elf_image_close(image);

	file.note.n_namesz = UINT32_MAX;
	file.note.n_descsz = UINT32_MAX;
	copy = malloc(sizeof(file));
	memcpy(copy, &file, sizeof(file));
	assert_int_equal(elf_image_open_memory(copy, sizeof(file), &image), 0);
	assert_int_equal(image->build_id_size, 0);
	elf_image_close(image);

	file.segments[0].p_vaddr = UINT64_MAX - 100;
	expect_refused(&file, sizeof(file));
}

static void fill_header(Elf64_Ehdr *header)
{
	*header = (Elf64_Ehdr){ .e_type = ET_DYN,
				.e_machine = EM_X86_64,
				.e_version = EV_CURRENT,
				.e_phoff = sizeof(*header),
				.e_phentsize = sizeof(Elf64_Phdr),
				.e_phnum = 1,
				.e_shentsize = sizeof(Elf64_Shdr) };
	memcpy(header->e_ident, ELFMAG, SELFMAG);
	header->e_ident[EI_CLASS] = ELFCLASS64;
	header->e_ident[EI_DATA] = ELFDATA2LSB;
	header->e_ident[EI_VERSION] = EV_CURRENT;
}

/* Numbers as in docs/SECURITY.md. */
static void test_too_many_sections(void **state)
{
	const size_t most = 65536;

	(void)state;
	for (size_t more = 0; more < 2; more++) {
		struct elf_image *image;
		struct {
			Elf64_Ehdr header;
			Elf64_Phdr segment;
			Elf64_Shdr sections[];
		} * file;
		size_t size = sizeof(*file) + (most + more) * sizeof(file->sections[0]);

		file = calloc(1, size);
		assert_non_null(file);
		fill_header(&file->header);
		file->segment = (Elf64_Phdr){ .p_type = PT_LOAD, .p_memsz = 1 };
		/* Of a number that is too large for the header. */
		file->header.e_shoff = sizeof(*file);
		file->sections[0].sh_size = most + more;
		assert_int_equal(elf_image_open_memory(file, size, &image), 0);
		assert_int_equal(image->section_count, more ? 0 : most);
		elf_image_close(image);
	}
}

static void test_too_many_segments(void **state)
{
	(void)state;
	for (size_t more = 0; more < 2; more++) {
		struct elf_image *image;
		struct {
			Elf64_Ehdr header;
			Elf64_Phdr segments[33];
		} *file = calloc(1, sizeof(*file));

		assert_non_null(file);
		fill_header(&file->header);
		file->header.e_phnum = (uint16_t)(32 + more);
		for (size_t i = 0; i < 33; i++)
			file->segments[i] = (Elf64_Phdr){ .p_type = PT_LOAD,
							  .p_vaddr = 4096 * i,
							  .p_memsz = 4096 };
		if (more) {
			expect_refused(file, sizeof(*file));
			free(file);
			continue;
		}
		assert_int_equal(elf_image_open_memory(file, sizeof(*file), &image), 0);
		assert_int_equal(image->segment_count, 32);
		elf_image_close(image);
	}
}

/* A build-id that begins behind as many notes as are read. */
static void test_too_many_notes(void **state)
{
	struct {
		Elf64_Nhdr head;
		char name[4];
		uint8_t build_id[16];
	} note = { { 4, 16, NT_GNU_BUILD_ID }, "GNU", "123456789012345" };

	(void)state;
	for (size_t more = 0; more < 2; more++) {
		size_t others = 65536 - sizeof(note) + sizeof(Elf64_Nhdr) * more;
		struct elf_image *image;
		struct {
			Elf64_Ehdr header;
			Elf64_Phdr segments[2];
			uint8_t notes[65536 + 64];
		} *file = calloc(1, sizeof(*file));

		assert_non_null(file);
		fill_header(&file->header);
		file->header.e_phnum = 2;
		file->segments[0] = (Elf64_Phdr){ .p_type = PT_LOAD, .p_memsz = 4096 };
		file->segments[1] = (Elf64_Phdr){ .p_type = PT_NOTE,
						  .p_offset = offsetof(__typeof__(*file), notes),
						  .p_filesz = sizeof(file->notes) };
		/* Empty ones, as long as their heads. */
		memcpy(file->notes + others, &note, sizeof(note));
		/* The first has what is left over. */
		file->notes[4] = (uint8_t)(others % sizeof(Elf64_Nhdr));
		assert_int_equal(elf_image_open_memory(file, sizeof(*file), &image), 0);
		assert_int_equal(image->build_id_size, more ? 0 : 16);
		elf_image_close(image);
	}
}

static void test_too_large_a_file(void **state)
{
	int fd = memfd_create("large", MFD_CLOEXEC);
	struct elf_image *image;
	struct {
		Elf64_Ehdr header;
		Elf64_Phdr segment;
	} file = { .segment = { .p_type = PT_LOAD, .p_memsz = 1 } };

	(void)state;
	assert_true(fd >= 0);
	if (under_valgrind())
		skip(); /* which has no room for it */
	fill_header(&file.header);
	assert_int_equal(write(fd, &file, sizeof(file)), sizeof(file));
	assert_int_equal(ftruncate(fd, 64ll << 30), 0);
	assert_int_equal(elf_image_open(fd, &image), 0);
	elf_image_close(image);
	assert_int_equal(ftruncate(fd, (64ll << 30) + 1), 0);
	assert_int_equal(elf_image_open(fd, &image), -ENOEXEC);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_without_sections),  cmocka_unit_test(test_refusals),
		cmocka_unit_test(test_corrupted_copies),  cmocka_unit_test(test_lying_sizes),
		cmocka_unit_test(test_too_many_sections), cmocka_unit_test(test_too_many_segments),
		cmocka_unit_test(test_too_many_notes),    cmocka_unit_test(test_too_large_a_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
