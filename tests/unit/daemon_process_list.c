/* SPDX-License-Identifier: Apache-2.0 */
/* A machine with more Python processes than are listed, or more files than are remembered. */
#include "daemon/inspect/list_writer.h"

#include <elf.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/must.h"

/* As in docs/SECURITY.md. */
#define FILES_REMEMBERED 32768
/* Fewer than are opened of one process. */
#define FILES_OF_A_PROCESS 4000

static pid_t start_python(void)
{
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		execlp("python3", "python3", "-c", "import time; time.sleep(600)", NULL);
		_exit(127);
	}
	return pid;
}

static void test_limit(void **state)
{
	pid_t pids[2] = { start_python(), start_python() };
	struct process_list *list = NULL;
	struct error error;

	(void)state;
	/* Until both have begun. */
	for (int i = 0; i < 50; i++) {
		size_t mine = 0;

		process_list_destroy(list);
		list = process_list_take(NULL, &error);
		assert_non_null(list);
		assert_false(list->cut);
		for (size_t k = 0; k < list->count; k++)
			mine += list->items[k].pid == pids[0] || list->items[k].pid == pids[1];
		if (mine == 2)
			break;
	}
	assert_true(list->count >= 2);
	process_list_destroy(list);
	list = process_list_take_some(1, NULL, &error);
	assert_non_null(list);
	assert_int_equal(list->count, 1);
	assert_true(list->cut);
	process_list_destroy(list);
	for (int i = 0; i < 2; i++) {
		kill(pids[i], SIGKILL);
		waitpid(pids[i], NULL, 0);
	}
}

/* Files with code, each another one, and nothing in them. */
static void map_files(size_t count)
{
	struct {
		Elf64_Ehdr header;
		Elf64_Phdr segment;
	} file = {
		.header = { .e_type = ET_DYN,
			    .e_machine = EM_X86_64,
			    .e_version = EV_CURRENT,
			    .e_phoff = sizeof(Elf64_Ehdr),
			    .e_ehsize = sizeof(Elf64_Ehdr),
			    .e_phentsize = sizeof(Elf64_Phdr),
			    .e_phnum = 1 },
		.segment = { .p_type = PT_LOAD,
			     .p_flags = PF_R | PF_X,
			     .p_filesz = sizeof(file),
			     .p_memsz = sizeof(file) },
	};

	memcpy(file.header.e_ident, ELFMAG, SELFMAG);
	file.header.e_ident[EI_CLASS] = ELFCLASS64;
	file.header.e_ident[EI_DATA] = ELFDATA2LSB;
	file.header.e_ident[EI_VERSION] = EV_CURRENT;
	for (size_t i = 0; i < count; i++) {
		int fd = memfd_create("file", MFD_CLOEXEC);
		void *mapped;

		must(fd >= 0 && write(fd, &file, sizeof(file)) == sizeof(file));
		mapped = mmap(NULL, sizeof(file), PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
		must(mapped != MAP_FAILED);
		close(fd);
	}
}

static pid_t start_with_files(void)
{
	int ends[2];
	char byte;
	pid_t pid;

	must(pipe(ends) == 0);
	pid = fork();
	must(pid >= 0);
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		map_files(FILES_OF_A_PROCESS);
		must(write(ends[1], "", 1) == 1);
		for (;;)
			pause();
	}
	close(ends[1]);
	must(read(ends[0], &byte, 1) == 1);
	close(ends[0]);
	return pid;
}

/* A process of a file that is not remembered may be a Python; the list says so. */
static void test_limit_of_files(void **state)
{
	pid_t pids[FILES_REMEMBERED / FILES_OF_A_PROCESS + 1];
	size_t started = 0;

	(void)state;
	if (geteuid() != 0)
		skip(); /* files in memory have no name by which others than root open them */
	while (started < sizeof(pids) / sizeof(pids[0])) {
		struct process_list *list;
		struct error error;

		pids[started++] = start_with_files();
		list = process_list_take(NULL, &error);
		assert_non_null(list);
		/* Other processes of the machine have files, too, and come and go. */
		assert_int_equal(list->cut, started * FILES_OF_A_PROCESS > FILES_REMEMBERED);
		process_list_destroy(list);
	}
	for (size_t i = 0; i < started; i++) {
		kill(pids[i], SIGKILL);
		waitpid(pids[i], NULL, 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_limit),
		cmocka_unit_test(test_limit_of_files),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
