/* SPDX-License-Identifier: Apache-2.0 */
/* Texts of /proc that are longer than what is read of them: files of ours in their place. */
#include "attach/cgroup.h"
#include "attach/procfs.h"
#include "tests/unit/replaced_open.h"

#include <setjmp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>

/* As in docs/SECURITY.md. */
#define CGROUP_BYTES 16384
#define TEXT_BYTES   ((size_t)64 << 20)

#define FORGED_PID 12345678 /* more than the kernel gives */
#define LINE_BYTES ((size_t)1024)

static int forged = -1;

/* What the kernel says of one process is ours. */
static bool decide_open(const char *path, int *ret_result)
{
	if (strncmp(path, "/proc/12345678/", strlen("/proc/12345678/")) != 0)
		return false;
	assert_int_equal(lseek(forged, 0, SEEK_SET), 0);
	*ret_result = dup(forged);
	return true;
}

/* A file of so many bytes, to be filled; forge_end() follows. */
static char *forge(size_t size)
{
	char *text;

	forged = memfd_create("forged", MFD_CLOEXEC);
	assert_true(forged >= 0 && !ftruncate(forged, (off_t)size));
	text = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, forged, 0);
	assert_ptr_not_equal(text, MAP_FAILED);
	return text;
}

static void forge_end(char *text, size_t size)
{
	munmap(text, size);
	close(forged);
	forged = -1;
}

/* The name ends where the text is cut, or one byte behind. */
static void test_cgroups(void **state)
{
	static const char line[] = "\n0::/batch/wanted";
	const size_t size = CGROUP_BYTES + 4096, length = strlen(line);

	(void)state;
	for (size_t behind = 0; behind < 2; behind++) {
		char *text = forge(size), copy[CGROUP_BYTES + 64];
		size_t read_bytes = 0;

		memset(text, 'x', size);
		memcpy(text + CGROUP_BYTES + behind - length, line, length);
		memset(copy, '?', sizeof(copy));
		assert_int_equal(procfs_read_cgroups(FORGED_PID, copy, &read_bytes), 0);
		assert_int_equal(read_bytes, CGROUP_BYTES);
		assert_memory_equal(copy, text, CGROUP_BYTES);
		assert_int_equal(copy[CGROUP_BYTES], '?');
		assert_int_equal(cgroup_contains(FORGED_PID, "wanted"), behind == 0);
		forge_end(text, size);
	}
}

/* Mappings of long lines: those that are whole below the bound are there. */
static void test_mappings(void **state)
{
	const size_t lines = TEXT_BYTES / LINE_BYTES, beyond = 8;
	const size_t size = (lines + beyond) * LINE_BYTES;
	struct mapping_list list = { 0 };
	char *text = forge(size);

	(void)state;
	memset(text, ' ', size);
	for (size_t i = 0; i < lines + beyond; i++) {
		char *line = text + i * LINE_BYTES;
		int length = sprintf(line, "%zx-%zx r-xp 00000000 00:00 0", 0x10000 + 0x2000 * i,
				     0x11000 + 0x2000 * i);

		line[length] = ' ';
		line[LINE_BYTES - 1] = '\n';
	}
	assert_int_equal(procfs_read_mappings(FORGED_PID, &list), 0);
	assert_int_equal(list.count, lines);
	assert_int_equal(list.mappings[lines - 1].start, 0x10000 + 0x2000 * (lines - 1));
	mapping_list_deinit(&list);
	forge_end(text, size);
}

/* A program's threads have names of 15 bytes, the kernel's own may have more. */
static void test_names(void **state)
{
	struct process_status status;
	char text[200] = "Name:\t";

	(void)state;
	memset(text + strlen(text), 'x', 100);
	memcpy(text + strlen(text), "\nState:\tR\n", sizeof("\nState:\tR\n"));
	procfs_parse_status(text, &status);
	assert_int_equal(strspn(status.name, "x"), 63);
	assert_int_equal(status.name[63], '\0');
	assert_int_equal(status.state, 'R');
	procfs_parse_status("Name:\t\nState:\tS\n", &status);
	assert_string_equal(status.name, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cgroups),
		cmocka_unit_test(test_mappings),
		cmocka_unit_test(test_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
