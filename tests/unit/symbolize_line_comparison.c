/* SPDX-License-Identifier: Apache-2.0 */
/* Lines and inlined functions against addr2line -i, on programs made for it and on interpreters. */
#include "symbolize/line_info.h"

#include "common/root_file.h"
#include "symbolize/demangle.h"
#include "tests/unit/line_sources.h"
#include "tests/unit/under_valgrind.h"
#include "tests/unit/unit_random.h"

#include <errno.h>
#include <glob.h>
#include <setjmp.h>

#include <cmocka.h>

/* What addr2line or we say about one address: a line of text a function. */
struct answer {
	char text[16384];
	size_t frames;
};

static void add_frame(struct answer *answer, const char *function, const char *file, int line)
{
	const char *slash = file ? strrchr(file, '/') : NULL;
	char plain[DEMANGLE_NAME_MAX];
	size_t used = strlen(answer->text);

	if (function && demangle_name(function, plain, sizeof(plain)))
		function = plain;
	snprintf(answer->text + used, sizeof(answer->text) - used, "%s at %s:%d\n",
		 function ? function : "??",
		 slash  ? slash + 1
		 : file ? file
			: "??",
		 line);
	answer->frames++;
}

static void ask_us(struct line_info *info, const struct module *module, uint64_t address,
		   struct answer *ret_answer)
{
	struct line_frame frames[LINE_INFO_DEPTH_MAX];
	size_t count;
	int error = line_info_find(info, module, module->bias + address, frames,
				   LINE_INFO_DEPTH_MAX, &count);

	ret_answer->text[0] = '\0';
	ret_answer->frames = 0;
	if (error) {
		assert_int_equal(error, -ENOENT);
		add_frame(ret_answer, NULL, NULL, 0);
		return;
	}
	assert_true(count >= 1 && count <= LINE_INFO_DEPTH_MAX);
	for (size_t i = 0; i < count; i++) {
		assert_int_equal(frames[i].is_inlined, i + 1 < count);
		add_frame(ret_answer, frames[i].function, frames[i].file, frames[i].line);
	}
}

/* Lines "0xADDRESS", then pairs of a function and FILE:LINE, until the next address. */
static bool next_answer(FILE *output, char line[16384], struct answer *ret_answer)
{
	char place[8192];

	ret_answer->text[0] = '\0';
	ret_answer->frames = 0;
	if (strncmp(line, "0x", 2) != 0)
		return false;
	while (fgets(line, 16384, output) && strncmp(line, "0x", 2) != 0) {
		char *colon;

		line[strcspn(line, "\n")] = '\0';
		if (!fgets(place, sizeof(place), output))
			return false;
		/* Also ends " (discriminator 3)" and "?". */
		colon = strrchr(place, ':');
		assert_non_null(colon);
		*colon = '\0';
		add_frame(ret_answer, strcmp(line, "??") ? line : NULL,
			  strcmp(place, "??") ? place : NULL, atoi(colon + 1));
	}
	return true;
}

/* Where DWARF has no line, addr2line answers from .symtab: that is no answer here. */
static void settle(struct answer *answer)
{
	size_t length = strlen(answer->text);

	if (answer->frames == 1 && length > 3 && strcmp(answer->text + length - 3, ":0\n") == 0)
		strcpy(answer->text, "?? at ??:0\n");
}

struct comparison {
	size_t asked;
	size_t same_lines;
	size_t same_files;
	size_t same_functions;
	size_t unnamed; /* a frame without function */
	size_t inlined; /* answers of more than one frame */
};

/*
 * Whether two lines name one function. For some C++ functions DWARF has no
 * mangled name, so that we say "f<int>", and addr2line takes what .symtab has:
 * "int space::f<int>(int)". And of some functions that were inlined everywhere
 * but once, GCC writes no entry for the copy that remains.
 */
static bool same_name(const char *expected, const char *got)
{
	size_t expected_length = (size_t)(strstr(expected, " at ") - expected);
	size_t length = (size_t)(strstr(got, " at ") - got), base = 0;

	if (length == expected_length && strncmp(expected, got, length) == 0)
		return true;
	if (length == 2 && strncmp(got, "??", 2) == 0)
		return true;
	while (base < length && got[base] != '<' && got[base] != '(')
		base++;
	return base > 0 && memmem(expected, expected_length, got, base) != NULL;
}

static bool same_functions(const struct answer *a, const struct answer *b)
{
	const char *left = a->text, *right = b->text;

	if (a->frames != b->frames)
		return false;
	for (size_t i = 0; i < a->frames; i++) {
		if (!same_name(left, right))
			return false;
		left = strchr(left, '\n') + 1;
		right = strchr(right, '\n') + 1;
	}
	return true;
}

static size_t end_of_line(const char *text)
{
	return (size_t)(strchr(text, '\n') - text);
}

/* The numbers alone: addr2line of binutils 2.40 mistakes files of DWARF 5 for each other. */
static bool same_lines(const struct answer *a, const struct answer *b)
{
	const char *left = a->text, *right = b->text;

	if (a->frames != b->frames)
		return false;
	for (size_t i = 0; i < a->frames; i++) {
		const char *left_number = memrchr(left, ':', end_of_line(left));
		const char *right_number = memrchr(right, ':', end_of_line(right));

		if (atoi(left_number + 1) != atoi(right_number + 1))
			return false;
		left += end_of_line(left) + 1;
		right += end_of_line(right) + 1;
	}
	return true;
}

static bool same_files(const struct answer *a, const struct answer *b)
{
	const char *left = a->text, *right = b->text;

	if (a->frames != b->frames)
		return false;
	for (size_t i = 0; i < a->frames; i++) {
		size_t left_length = end_of_line(left), right_length = end_of_line(right);
		const char *left_file = memrchr(left, ' ', left_length);
		const char *right_file = memrchr(right, ' ', right_length);

		if (strcspn(left_file, ":") != strcspn(right_file, ":") ||
		    strncmp(left_file, right_file, strcspn(left_file, ":")) != 0)
			return false;
		left += left_length + 1;
		right += right_length + 1;
	}
	return true;
}

/* Compares answers to every address in addresses. debug: the file addr2line reads. */
static void compare(struct line_info *info, const struct module *module, const char *debug,
		    const uint64_t *addresses, size_t count, struct comparison *comparison)
{
	char list[] = "/tmp/symbolize_lineXXXXXX", command[PATH_MAX + 128], line[16384];
	struct answer expected, got;
	FILE *file, *output;
	int fd = mkstemp(list);

	assert_true(fd >= 0);
	file = fdopen(fd, "w");
	assert_non_null(file);
	for (size_t i = 0; i < count; i++)
		fprintf(file, "0x%lx\n", (unsigned long)addresses[i]);
	fclose(file);
	snprintf(command, sizeof(command), "addr2line -a -f -i -e '%s' <%s 2>/dev/null", debug,
		 list);
	output = popen(command, "re");
	assert_non_null(output);
	assert_non_null(fgets(line, sizeof(line), output));
	for (size_t i = 0; i < count; i++) {
		assert_true(next_answer(output, line, &expected));
		ask_us(info, module, addresses[i], &got);
		settle(&expected);
		settle(&got);
		comparison->asked++;
		comparison->same_lines += same_lines(&expected, &got);
		comparison->same_files += same_files(&expected, &got);
		comparison->same_functions += same_functions(&expected, &got);
		comparison->unnamed +=
			strcmp(expected.text, got.text) != 0 && strstr(got.text, "?? at ") != NULL;
		comparison->inlined += got.frames > 1;
		if (getenv("SHOW_DIFFERENCES") &&
		    (!same_lines(&expected, &got) || !same_files(&expected, &got) ||
		     !same_functions(&expected, &got)))
			printf("%lx: expected\n%sgot\n%s", (unsigned long)addresses[i],
			       expected.text, got.text);
	}
	pclose(output);
	unlink(list);
}

struct code {
	uint64_t start;
	uint64_t size;
};

/*
 * Addresses inside functions of the file, not between them: every one of a
 * small file, maximum random ones of a large one.
 */
static size_t pick_addresses(const char *debug, uint64_t *addresses, size_t maximum)
{
	struct unit_random random = { .state = 4711 };
	struct code *codes = calloc(100000, sizeof(*codes));
	char command[PATH_MAX + 64], line[16384];
	size_t code_count = 0, total = 0, count = 0;
	FILE *output;

	assert_non_null(codes);
	snprintf(command, sizeof(command), "nm -S '%s'", debug);
	output = popen(command, "re");
	assert_non_null(output);
	while (code_count < 100000 && fgets(line, sizeof(line), output)) {
		struct code *code = &codes[code_count];
		char type;

		if (sscanf(line, "%lx %lx %c", &code->start, &code->size, &type) == 3 &&
		    strchr("tTwW", type)) {
			total += code->size;
			code_count++;
		}
	}
	pclose(output);
	assert_true(code_count > 0);
	for (size_t i = 0; total <= maximum && i < code_count; i++)
		for (uint64_t k = 0; k < codes[i].size; k++)
			addresses[count++] = codes[i].start + k;
	while (total > maximum && count < maximum) {
		const struct code *code = &codes[unit_random_below(&random, code_count)];

		if (code->size)
			addresses[count++] = code->start + unit_random_below(&random, code->size);
	}
	free(codes);
	return count;
}

static void compare_file(const char *path, const char *debug, size_t maximum,
			 struct comparison *ret_comparison)
{
	struct built_module *built = built_module_open(path);
	uint64_t *addresses = calloc(maximum, sizeof(*addresses));
	struct line_info *info = line_info_create(NULL);
	size_t count;

	assert_non_null(addresses);
	assert_non_null(info);
	/* Anywhere but where the file says. */
	built->module.bias = 0x7f1234560000;
	count = pick_addresses(debug ? debug : path, addresses, maximum);
	*ret_comparison = (struct comparison){ 0 };
	compare(info, &built->module, debug ? debug : path, addresses, count, ret_comparison);
	print_message("%s: %zu addresses, %zu lines, %zu files and %zu functions the same, %zu "
		      "with inlined "
		      "functions\n",
		      built->module.name, ret_comparison->asked, ret_comparison->same_lines,
		      ret_comparison->same_files, ret_comparison->same_functions,
		      ret_comparison->inlined);
	line_info_destroy(info);
	free(addresses);
	built_module_close(built);
}

static void test_programs(void **state)
{
	static const struct {
		const char *command;
		const char *debug;
	} builds[] = {
		{ "gcc -g -O2 -o p c.c", NULL },
		{ "gcc -gdwarf-4 -O2 -o p c.c", NULL },
		{ "gcc -gdwarf-3 -O1 -o p c.c", NULL },
		{ "gcc -g -O2 -gz=zlib -o p c.c", NULL },
		{ "g++ -g -O2 -o p cxx.cc", NULL },
		{ "g++ -g -O3 -flto -o p cxx.cc", NULL },
		{ "g++ -gdwarf-4 -O2 -ffunction-sections -Wl,--gc-sections -o p cxx.cc", NULL },
		{ "g++ -g -O2 -o p cxx.cc; objcopy --only-keep-debug p p.debug; strip p;"
		  "objcopy --add-gnu-debuglink=p.debug p",
		  "p.debug" },
		{ "g++ -g -O2 -o p cxx.cc; objcopy --only-keep-debug --compress-debug-sections p "
		  "p.debug; strip p; objcopy --add-gnu-debuglink=p.debug p",
		  "p.debug" },
	};
	struct built_files *files = *state;

	for (size_t i = 0; i < sizeof(builds) / sizeof(builds[0]); i++) {
		struct comparison comparison;
		char debug[PATH_MAX];

		assert_true(built_files_run(files, "rm -f p p.debug"));
		assert_true(built_files_run(files, builds[i].command));
		if (builds[i].debug)
			strcpy(debug, built_files_path(files, builds[i].debug));
		compare_file(built_files_path(files, "p"), builds[i].debug ? debug : NULL, 20000,
			     &comparison);
		assert_true(comparison.inlined > 20);
		assert_true(comparison.same_functions * 1000 >= comparison.asked * 995);
		assert_true(comparison.unnamed * 50 <= comparison.asked);
		assert_true(comparison.same_lines * 1000 >= comparison.asked * 998);
		assert_true(comparison.same_files * 100 >= comparison.asked * 97);
	}
}

/* Entries that dwz moved to a file that two programs share. */
static void test_shared_entries(void **state)
{
	struct built_files *files = *state;
	struct debug_search search = { .root = ROOT_OWN };
	struct comparison comparison;
	struct line_frame frame;
	struct line_info *info;
	struct built_module *built;
	char whole[PATH_MAX];
	uint64_t address;
	size_t count;

	if (!built_have("dwz"))
		skip();
	assert_true(built_files_run(files, "g++ -gdwarf-4 -O2 -o p cxx.cc\n"
					   "sed s/total/sum_of/g cxx.cc >other.cc\n"
					   "g++ -gdwarf-4 -O2 -o other other.cc\n"
					   "cp p whole\n"
					   "dwz -m \"$PWD/shared.debug\" -M \"$PWD/shared.debug\" "
					   "p other\n"
					   "readelf -S p | grep -q gnu_debugaltlink"));
	/* This addr2line does not find the shared entries, so it gets the file as it was. */
	strcpy(whole, built_files_path(files, "whole"));
	compare_file(built_files_path(files, "p"), whole, 20000, &comparison);
	assert_true(comparison.inlined > 20);
	assert_true(comparison.unnamed * 50 <= comparison.asked);
	assert_true(comparison.same_lines * 1000 >= comparison.asked * 998);
	assert_true(comparison.same_files * 100 >= comparison.asked * 97);

	/* In the target's root, and nowhere else. */
	assert_true(built_files_run(files, "mkdir -p \"root$PWD\"\n"
					   "mv shared.debug \"root$PWD/shared.debug\""));
	built = built_module_open(built_files_path(files, "p"));
	info = line_info_create(NULL);
	assert_int_equal(line_info_find(info, &built->module,
					built_address(built_files_path(files, "p"), "main"), &frame,
					1, &count),
			 -ENODATA);
	line_info_destroy(info);
	search.root = open(built_files_path(files, "root"), O_PATH | O_DIRECTORY | O_CLOEXEC);
	assert_true(search.root >= 0);
	info = line_info_create(&search);
	/* valgrind has no openat2(2). */
	assert_int_equal(line_info_find(info, &built->module,
					built_address(built_files_path(files, "p"), "main"), &frame,
					1, &count),
			 under_valgrind() ? -ENODATA : 0);
	assert_true(under_valgrind() || strcmp(frame.function, "main") == 0);
	line_info_destroy(info);
	close(search.root);

	/* One that refers to a further file is refused: libdw would open that by its path. */
	assert_true(built_files_run(
		files, "cp \"root$PWD/shared.debug\" shared.debug\n"
		       "printf '/nowhere/further.debug\\0abcdefghijklmnopqrst' >link\n"
		       "objcopy --add-section .gnu_debugaltlink=link shared.debug linked.debug"));
	info = line_info_create(NULL);
	address = built_address(built_files_path(files, "p"), "main");
	assert_int_equal(line_info_find(info, &built->module, address, &frame, 1, &count), 0);
	line_info_destroy(info);
	assert_true(built_files_run(files, "cp linked.debug shared.debug"));
	info = line_info_create(NULL);
	assert_int_equal(line_info_find(info, &built->module, address, &frame, 1, &count),
			 -ENODATA);
	line_info_destroy(info);

	/* Another file in its place is refused. */
	assert_true(built_files_run(files, "cp other shared.debug"));
	info = line_info_create(NULL);
	assert_int_equal(line_info_find(info, &built->module, 0x1100, &frame, 1, &count), -ENODATA);
	line_info_destroy(info);
	built_module_close(built);
}

static void test_interpreter(void **state)
{
	struct comparison comparison;
	char pattern[PATH_MAX];
	const char *home = getenv("HOME");
	glob_t files;
	size_t compared = 0;

	(void)state;
	snprintf(pattern, sizeof(pattern), "%s/.pyenv/versions/3.1[0-9]*/lib/libpython3.*.so.1.0",
		 home ? home : "/nonexistent");
	if (glob(pattern, 0, NULL, &files) == 0) {
		/* Two are enough: addr2line takes seconds for each. */
		for (size_t i = 0; i < files.gl_pathc && compared < 2; i += 2) {
			compare_file(files.gl_pathv[i], NULL, 3000, &comparison);
			assert_true(comparison.same_functions * 1000 >= comparison.asked * 995);
			assert_true(comparison.unnamed * 50 <= comparison.asked);
			assert_true(comparison.same_lines * 1000 >= comparison.asked * 998);
			assert_true(comparison.same_files * 100 >= comparison.asked * 97);
			compared++;
		}
		globfree(&files);
	}
	if (!compared) {
		print_message("skipped: no interpreter with DWARF\n");
		skip();
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_programs, setup, teardown),
		cmocka_unit_test_setup_teardown(test_shared_entries, setup, teardown),
		cmocka_unit_test(test_interpreter),
	};

	if (!built_have("addr2line") || !built_have("g++"))
		return 0;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
