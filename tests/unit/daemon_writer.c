/* SPDX-License-Identifier: Apache-2.0 */
/* Choosing a writer, and writing files that are whole or not there, in a real folder. */
#include "daemon/report/format/output_file.h"
#include "daemon/report/html/html.h"
#include "daemon/report/writer_table.h"
#include "report_sample.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static char folder[] = "/tmp/pieprofd-writer-XXXXXX";
static const struct writer_options defaults;

static const char *path_of(const char *name)
{
	static char path[128];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	return path;
}

static char *contents(const char *path)
{
	static char text[65536];
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t size;

	assert_true(fd >= 0);
	size = read(fd, text, sizeof(text) - 1);
	assert_true(size >= 0);
	text[size] = '\0';
	close(fd);
	return text;
}

static size_t files_in_folder(void)
{
	glob_t found;
	size_t count;
	char pattern[160];

	snprintf(pattern, sizeof(pattern), "%s/*", folder);
	count = glob(pattern, 0, NULL, &found) == 0 ? found.gl_pathc : 0;
	globfree(&found);
	return count;
}

static int make_folder(void **state)
{
	(void)state;
	unsetenv("SUDO_UID");
	unsetenv("SUDO_GID");
	return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
	char command[160];

	(void)state;
	snprintf(command, sizeof(command), "rm -r '%s'", folder);
	return system(command);
}

static int empty_folder(void **state)
{
	char command[160];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf '%s'/*", folder);
	return system(command);
}

static int failing_write(const struct profile *profile, const struct writer_options *options,
			 FILE *file)
{
	(void)profile;
	(void)options;
	fputs("half", file);
	return -ENOMEM;
}

static const struct writer failing = { .name = "failing",
				       .extension = ".x",
				       .write = failing_write };

static void test_choice(void **state)
{
	char *names = NULL;
	size_t size;
	FILE *file = open_memstream(&names, &size);

	(void)state;
	assert_ptr_equal(writer_by_name("text"), &writer_text);
	assert_ptr_equal(writer_by_name("json"), &writer_json);
	assert_null(writer_by_name("JSON"));
	assert_null(writer_by_name(""));
	assert_ptr_equal(writer_by_path("-"), &writer_text);
	assert_ptr_equal(writer_by_path("a.json"), &writer_json);
	assert_ptr_equal(writer_by_path("/x.json/a.txt"), &writer_text);
	assert_ptr_equal(writer_by_path("a.folded"), &writer_collapsed);
	assert_ptr_equal(writer_by_path("a.pb.gz"), &writer_pprof);
	/* The longest extension that fits, and that has something before it. */
	assert_ptr_equal(writer_by_path("a.speedscope.json"), &writer_speedscope);
	assert_ptr_equal(writer_by_path("a.firefox.json"), &writer_firefox);
	assert_ptr_equal(writer_by_path("a.html"), &writer_html);
	assert_ptr_equal(writer_by_path(".firefox.json"), &writer_json);
	assert_ptr_equal(writer_by_path("a.sarif"), &writer_sarif);
	assert_ptr_equal(writer_by_path("a.github.txt"), &writer_github);
	assert_ptr_equal(writer_by_path("a.md"), &writer_markdown);
	assert_ptr_equal(writer_by_path("speedscope.json"), &writer_json);
	assert_null(writer_by_path("a.gz"));
	assert_null(writer_by_path(".json"));
	assert_null(writer_by_path("json"));
	assert_null(writer_by_path(""));
	writer_names(file);
	fclose(file);
	assert_string_equal(names,
			    "text, json, collapsed, pprof, speedscope, firefox, html, recording, "
			    "sarif, github, markdown, jsonl");
	free(names);
}

static void test_new_file(void **state)
{
	struct profile profile = sample_profile();
	const struct writer_options colour = { .colour = true };
	const char *path = path_of("report.txt");
	char *expected = sample_written(&writer_text, &profile, &defaults);
	struct stat status;
	mode_t mask = umask(0);

	(void)state;
	/* Colours are for terminals. */
	assert_int_equal(writer_write_file(&writer_text, &profile, &colour, path), 0);
	umask(mask);
	assert_string_equal(contents(path), expected);
	assert_int_equal(stat(path, &status), 0);
	assert_int_equal(status.st_mode & 07777, 0600);
	assert_int_equal(status.st_uid, geteuid());
	assert_int_equal(files_in_folder(), 1);
	free(expected);
}

static void test_old_file_is_replaced_at_once(void **state)
{
	struct profile profile = sample_profile();
	const char *path = path_of("report.json");
	FILE *old = fopen(path, "w");
	char *expected = sample_written(&writer_json, &profile, &defaults);
	char before[16];

	(void)state;
	fputs("old text", old);
	fclose(old);
	old = fopen(path, "r");
	assert_int_equal(writer_write_file(&writer_json, &profile, &defaults, path), 0);
	assert_string_equal(contents(path), expected);
	/* Who has the old one open still reads that. */
	assert_non_null(fgets(before, sizeof(before), old));
	assert_string_equal(before, "old text");
	fclose(old);
	assert_int_equal(files_in_folder(), 1);
	free(expected);
}

static void test_failure_leaves_the_old_file(void **state)
{
	struct profile profile = sample_profile();
	const char *path = path_of("report.x");
	FILE *old = fopen(path, "w");

	(void)state;
	fputs("old text", old);
	fclose(old);
	assert_int_equal(writer_write_file(&failing, &profile, &defaults, path), -ENOMEM);
	assert_string_equal(contents(path), "old text");
	assert_int_equal(files_in_folder(), 1);
	assert_int_equal(
		writer_write_file(&writer_text, &profile, &defaults, path_of("none/x.txt")),
		-ENOENT);
	assert_int_equal(writer_write_file(&writer_text, &profile, &defaults, ""), -ENOENT);
	assert_int_equal(files_in_folder(), 1);
	/* It is told before, and nothing is left behind. */
	assert_int_equal(output_file_check(path_of("none/x.txt")), -ENOENT);
	assert_int_equal(output_file_check(""), -ENOENT);
	assert_int_equal(output_file_check("-"), 0);
	assert_int_equal(output_file_check(path_of("new.txt")), 0);
	assert_int_equal(files_in_folder(), 1);
}

static void test_links_and_devices(void **state)
{
	struct profile profile = sample_profile();
	char target[128];
	FILE *file;

	(void)state;
	strcpy(target, path_of("target.txt"));
	file = fopen(target, "w");
	fputs("mine", file);
	fclose(file);
	assert_int_equal(symlink(target, path_of("link.txt")), 0);
	assert_int_equal(writer_write_file(&writer_text, &profile, &defaults, path_of("link.txt")),
			 -ELOOP);
	assert_string_equal(contents(target), "mine");
	assert_int_equal(mkdir(path_of("folder"), 0700), 0);
	assert_int_equal(writer_write_file(&writer_text, &profile, &defaults, path_of("folder")),
			 -EISDIR);
	assert_int_equal(output_file_check(path_of("link.txt")), -ELOOP);
	assert_int_equal(output_file_check(path_of("folder")), -EISDIR);
	assert_int_equal(output_file_check("/dev/null"), 0);
	/* Written to, not replaced. */
	assert_int_equal(writer_write_file(&writer_text, &profile, &defaults, "/dev/null"), 0);
	struct stat status;
	assert_int_equal(stat("/dev/null", &status), 0);
	assert_true(S_ISCHR(status.st_mode));
	assert_int_equal(writer_write_file(&writer_text, &profile, &defaults, "/dev/full"),
			 -ENOSPC);
}

static void test_stdout(void **state)
{
	struct profile profile = sample_profile();
	char *expected = sample_written(&writer_json, &profile, &defaults);
	int saved = dup(STDOUT_FILENO), pipe_ends[2], result;
	int file = open(path_of("stdout"), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	(void)state;
	fflush(stdout);
	assert_true(saved >= 0 && file >= 0);
	dup2(file, STDOUT_FILENO);
	result = writer_write_file(&writer_json, &profile, &defaults, "-");
	dup2(saved, STDOUT_FILENO);
	assert_int_equal(result, 0);
	assert_string_equal(contents(path_of("stdout")), expected);
	close(file);
	free(expected);

	/* A reader that has gone away is named as what it is. */
	assert_int_equal(pipe(pipe_ends), 0);
	close(pipe_ends[0]);
	signal(SIGPIPE, SIG_IGN);
	dup2(pipe_ends[1], STDOUT_FILENO);
	result = writer_write_file(&writer_json, &profile, &defaults, "-");
	dup2(saved, STDOUT_FILENO);
	assert_int_equal(result, -EPIPE);
	close(pipe_ends[1]);
	close(saved);
}

static void test_belongs_to_who_called_sudo(void **state)
{
	static const struct {
		const char *user, *group;
		uid_t expected_user;
		gid_t expected_group;
	} cases[] = {
		{ "65534", "65533", 65534, 65533 },
		{ "65534", NULL, 0, 0 },
		{ NULL, "65533", 0, 0 },
		{ "", "65533", 0, 0 },
		{ "-1", "65533", 0, 0 },
		{ "65534x", "65533", 0, 0 },
		{ "4294967295", "65533", 0, 0 },
		{ " 1", "65533", 0, 0 },
		{ "99999999999999999999999", "65533", 0, 0 },
	};
	struct profile profile = sample_profile();
	const char *path = path_of("owned.txt");

	(void)state;
	if (geteuid() != 0) {
		print_message("needs root to give files away\n");
		skip();
	}
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct stat status;

		unsetenv("SUDO_UID");
		unsetenv("SUDO_GID");
		if (cases[i].user)
			setenv("SUDO_UID", cases[i].user, 1);
		if (cases[i].group)
			setenv("SUDO_GID", cases[i].group, 1);
		assert_int_equal(writer_write_file(&writer_text, &profile, &defaults, path), 0);
		assert_int_equal(stat(path, &status), 0);
		assert_int_equal(status.st_uid, cases[i].expected_user);
		assert_int_equal(status.st_gid, cases[i].expected_group);
		assert_int_equal(status.st_mode & 07777, 0600);
	}
	unsetenv("SUDO_UID");
	unsetenv("SUDO_GID");
}

#define in_folder(test) cmocka_unit_test_teardown(test, empty_folder)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_choice),
		in_folder(test_new_file),
		in_folder(test_old_file_is_replaced_at_once),
		in_folder(test_failure_leaves_the_old_file),
		in_folder(test_links_and_devices),
		in_folder(test_stdout),
		in_folder(test_belongs_to_who_called_sudo),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
