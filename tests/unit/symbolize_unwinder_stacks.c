/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The unwinder on whole stacks that random stops rarely meet: longer than what
 * was copied, of another thread, in the vDSO, of a file without a search table.
 */
#include "tests/unit/unwind_children.h"

#include <dirent.h>
#include <dwarf.h>
#include <pthread.h>

static void test_stack_longer_than_snapshot(void **state)
{
	static struct stack own;
	unsigned int depth = 100;
	struct subject subject;
	struct unwinder *without_reader;
	size_t count;

	(void)state;
	subject = open_stopped(child_in_recursion, &depth, 4096);
	unwind_own(&subject, NULL, &own);
	assert_int_equal(own.end, UNWIND_COMPLETE);
	assert_true(frame_of(&own, ADDRESS(child_in_recursion)) ==
		    frame_of(&own, ADDRESS(recurse)) + 101);
	assert_in_range(unwinder_counters(subject.unwinder).stack_reads, 3, 5);

	without_reader = unwinder_create(subject.modules, NULL);
	assert_int_equal(unwinder_unwind(without_reader, &subject.process->registers,
					 &subject.process->stack, NULL, own.frames, FRAMES_MAX,
					 &count),
			 UNWIND_STACK_MISSING);
	assert_in_range(count, 2, 6);
	unwinder_destroy(without_reader);
	subject_close(&subject);

	/* More than the reads one unwind may do. */
	depth = 450;
	subject = open_stopped(child_in_recursion, &depth, 4096);
	unwind_own(&subject, NULL, &own);
	assert_int_equal(own.end, UNWIND_STACK_MISSING);
	assert_true(own.count > 200);
	assert_int_equal(unwinder_counters(subject.unwinder).stack_reads, 8);
	subject_close(&subject);
}

static void *thread_body(void *argument)
{
	(void)argument;
	CALL(stay());
	return NULL;
}

static void child_with_thread(void *context)
{
	pthread_t thread;

	(void)context;
	pthread_create(&thread, NULL, thread_body, NULL);
	for (;;)
		pause();
}

static void test_other_thread(void **state)
{
	static struct stack own;
	struct live_process *process = live_process_start(NULL, child_with_thread, NULL);
	struct subject subject;
	struct dirent *entry;
	char path[64];
	DIR *tasks;

	(void)state;
	assert_true(live_process_wait_line(process));
	snprintf(path, sizeof(path), "/proc/%d/task", process->pid);
	tasks = opendir(path);
	while ((entry = readdir(tasks)) != NULL)
		if (atoi(entry->d_name) > process->pid)
			process->tid = atoi(entry->d_name);
	closedir(tasks);
	assert_true(process->tid != process->pid);
	subject = subject_open(process);
	assert_true(live_process_seize(process));
	assert_true(live_process_stop(process));
	assert_true(live_process_settle(process));
	assert_true(live_process_copy(process, LIVE_STACK_BYTES_MAX));
	unwind_own(&subject, NULL, &own);
	assert_int_equal(own.end, UNWIND_COMPLETE);
	assert_true(frame_of(&own, ADDRESS(thread_body)) > 0);
	assert_true(ends_in_start(&subject, &own));
	subject_close(&subject);
}

static void test_vdso(void **state)
{
	static struct stack own, reference;
	struct subject subject = open_stopped(child_in_vdso, NULL, LIVE_STACK_BYTES_MAX);
	unsigned int in_vdso = 0;

	(void)state;
	srand(2);
	for (unsigned int stop = 0; stop < 60; stop++) {
		unwind_own(&subject, NULL, &own);
		unwind_libunwind(&subject, &reference);
		assert_int_equal(own.end, UNWIND_COMPLETE);
		assert_true(same_pcs(&own, &reference));
		assert_true(frame_of(&own, ADDRESS(child_in_vdso)) < 4);
		in_vdso += strcmp(own.frames[0].module->name, "[vdso]") == 0;
		live_process_continue(subject.process);
		live_process_run(subject.process, (unsigned int)rand() % 500);
		assert_true(live_process_stop(subject.process));
		assert_true(live_process_copy(subject.process, LIVE_STACK_BYTES_MAX));
	}
	assert_true(in_vdso > 0);
	subject_close(&subject);
}

/* Opens a copy of each file whose search table says that there is none. */
static int open_without_table(void *context, const struct mapping *mapping)
{
	int file = live_process_open_file(context, mapping);
	int copy = memfd_create("copy", MFD_CLOEXEC);
	struct elf_image *image;
	char buffer[65536];
	ssize_t size;

	live_must(copy >= 0);
	if (file < 0 || elf_image_open(file, &image)) {
		close(copy);
		return file;
	}
	while ((size = read(file, buffer, sizeof(buffer))) > 0)
		live_must(write(copy, buffer, (size_t)size) == size);
	close(file);
	if (image->eh_frame_hdr_address) {
		static const uint8_t omit[] = { DW_EH_PE_omit, DW_EH_PE_omit };
		size_t available;
		const uint8_t *header =
			elf_image_at(image, image->eh_frame_hdr_address, &available);

		live_must(pwrite(copy, omit, sizeof(omit), header + 2 - image->bytes) ==
			  sizeof(omit));
	}
	elf_image_close(image);
	return copy;
}

static void test_file_without_search_table(void **state)
{
	static struct stack own, indexed;
	unsigned int depth = 20;
	struct subject subject = open_stopped(child_in_recursion, &depth, LIVE_STACK_BYTES_MAX);
	const struct mapping_opener opener = { open_without_table, subject.process };
	struct module_table *modules = module_table_create(&opener, &subject.process->reader);
	struct unwinder *unwinder;

	(void)state;
	assert_int_equal(module_table_update(modules, &subject.process->mappings), 0);
	unwinder = unwinder_create(modules, &subject.process->reader);
	unwind_own(&subject, NULL, &own);
	indexed.end =
		unwinder_unwind(unwinder, &subject.process->registers, &subject.process->stack,
				NULL, indexed.frames, FRAMES_MAX, &indexed.count);
	assert_int_equal(own.end, UNWIND_COMPLETE);
	assert_int_equal(indexed.end, UNWIND_COMPLETE);
	assert_true(same_pcs(&own, &indexed));
	for (size_t i = 0; i < own.count; i++)
		assert_true(own.frames[i].function == indexed.frames[i].function);
	unwinder_destroy(unwinder);
	module_table_destroy(modules);
	subject_close(&subject);
}

int main(void)
{
	const struct CMUnitTest nothing[] = { cmocka_unit_test(test_nothing_under_valgrind) };
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_stack_longer_than_snapshot),
		cmocka_unit_test(test_other_thread),
		cmocka_unit_test(test_vdso),
		cmocka_unit_test(test_file_without_search_table),
	};

	return under_valgrind() ? cmocka_run_group_tests(nothing, NULL, NULL)
				: cmocka_run_group_tests(tests, NULL, NULL);
}
