/* SPDX-License-Identifier: Apache-2.0 */
/* The profile as a whole, and the lines that a tree's time and accesses are charged to. */
#include "built_profile.h"
#include "unit_random.h"

static void test_empty(void **state)
{
	const struct profile *profile = build(*state);

	assert_int_equal(profile->line_count, 0);
	assert_int_equal(profile->pair_count, 0);
	assert_int_equal(profile->pairs_omitted, 0);
	profile_destroy(NULL);
}

static void test_time_by_line(void **state)
{
	struct fixture *fixture = *state;
	struct cct_node *leaf, *node;
	const struct profile *profile;
	const struct profile_line *line;

	leaf = element(fixture, 3, 0);
	cct_node_charge(leaf, TIME_NATIVE, 1, 30 * MS);
	cct_node_charge(leaf->parent, TIME_PYTHON, 1, 5 * MS);
	cct_node_charge(leaf->parent, TIME_SYSTEM, 1, 1 * MS);
	cct_node_charge(vectorised(fixture), TIME_NATIVE, 1, 50 * MS);
	node = INSERT(fixture, native(fixture, vector_kernel, 0));
	cct_node_charge(node, TIME_NATIVE, 1, 2 * MS); /* no Python at all */
	profile = build(fixture);

	assert_int_equal(profile->time_ns[TIME_NATIVE], 82 * MS);
	assert_int_equal(profile->time_ns[TIME_PYTHON], 5 * MS);
	assert_int_equal(profile->line_count, 4);
	line = &profile->lines[0];
	assert_int_equal(line->line, 8);
	assert_string_equal(line->function, "<module>");
	assert_string_equal(line->source, "again(3)");
	assert_int_equal(line->total_ns, 86 * MS);
	assert_int_equal(line->self_ns[TIME_NATIVE], 0);
	line = &profile->lines[1];
	assert_int_equal(line->line, 5);
	assert_string_equal(line->function, "back");
	assert_int_equal(line->self_ns[TIME_NATIVE], 50 * MS);
	assert_int_equal(line->total_ns, 50 * MS);
	line = &profile->lines[2];
	assert_int_equal(line->line, 3);
	assert_string_equal(line->file, "/project/program.py");
	assert_string_equal(line->source, "g[f] += d[f, 1] * r");
	assert_int_equal(line->self_ns[TIME_NATIVE], 30 * MS);
	assert_int_equal(line->self_ns[TIME_PYTHON], 5 * MS);
	assert_int_equal(line->self_ns[TIME_SYSTEM], 1 * MS);
	assert_int_equal(line->total_ns, 36 * MS);
	/* Nothing was sampled there: nothing is said. */
	assert_int_equal(line->avoidable_ns, 0);
	assert_int_equal(line->reason_count, 0);
	assert_int_equal(line->category, CATEGORY_UNCLEAR);
	/* Without Python on the stack the native function stands for a line. */
	line = &profile->lines[3];
	assert_int_equal(line->line, 0);
	assert_null(line->source);
	assert_int_equal(line->self_ns[TIME_NATIVE], 2 * MS);
	assert_int_equal(line->total_ns, 2 * MS);
}

/* Without Python, what entered the kernel stands for a line: not each function that ran there. */
static void test_kernel_without_python(void **state)
{
	struct fixture *fixture = *state;
	const struct frame entry = frame_of_kernel("__x64_sys_read"),
			   outside = native(fixture, vector_kernel, 0);
	const struct profile *profile;

	cct_node_charge(INSERT(fixture, outside, entry), TIME_SYSTEM, 1, 3 * MS);
	cct_node_charge(INSERT(fixture, outside, entry, frame_of_kernel("vfs_read")), TIME_SYSTEM,
			1, 4 * MS);
	cct_node_charge(INSERT(fixture, frame_of_scheduling()), TIME_SYSTEM, 1, 2 * MS);
	cct_node_charge(INSERT(fixture, entry), TIME_SYSTEM, 1, 1 * MS);
	profile = build(fixture);
	assert_int_equal(profile->line_count, 3);
	assert_string_equal(profile->lines[0].function, "vector_kernel");
	assert_int_equal(profile->lines[0].self_ns[TIME_SYSTEM], 7 * MS);
	assert_string_equal(profile->lines[1].file, FRAME_KERNEL_FILE);
	assert_string_equal(profile->lines[1].function, "[scheduling, thread start and end]");
	assert_string_equal(profile->lines[2].function, "__x64_sys_read");
	/* No address of it is anywhere. */
	for (size_t i = 0; i < profile->tree.frame_count; i++)
		if (profile_frame_is_kernel(&profile->tree.frames[i]))
			assert_int_equal(profile->tree.frames[i].address |
						 profile->tree.frames[i].function_address,
					 0);
}

static void test_recursion_counts_once(void **state)
{
	struct fixture *fixture = *state;
	struct frame call = python(fixture->again, 7, "CALL", 0);
	struct cct_node *deep = INSERT(fixture, module_frame(fixture), call, call, call);
	struct cct_node *shallow = INSERT(fixture, module_frame(fixture), call);
	const struct profile_line *line;

	cct_node_charge(deep, TIME_PYTHON, 1, 10 * MS);
	cct_node_charge(shallow, TIME_PYTHON, 1, 3 * MS);
	line = line_of(build(fixture), 7);
	assert_int_equal(line->self_ns[TIME_PYTHON], 13 * MS);
	assert_int_equal(line->total_ns, 13 * MS);
}

static void test_instruction_without_line_counts_for_the_function(void **state)
{
	struct fixture *fixture = *state;
	struct frame frame = { .kind = FRAME_PYTHON,
			       .python = { .code = &fixture->back->code,
					   .instruction_offset = -2 } };

	cct_node_charge(INSERT(fixture, frame), TIME_PYTHON, 1, MS);
	assert_int_equal(build(fixture)->lines[0].line, 1);
}

static const struct profile_line *line_in(const struct profile *profile, const char *folder,
					  int line)
{
	for (size_t i = 0; i < profile->line_count; i++)
		if (profile->lines[i].line == line && strstr(profile->lines[i].file, folder))
			return &profile->lines[i];
	return NULL;
}

/*
 * A library's thin function: its time stays its own, but is charged, as are its
 * accesses, to the line that calls it.
 */
static void test_library_wrappers_charge_their_caller(void **state)
{
	struct fixture *fixture = *state;
	struct python_code library = fixture->back->code;
	struct frame caller = python(fixture->again, 7, "CALL", 0), thin, looping, deep;
	const struct profile *profile;
	const struct profile_line *line;
	struct cct_node *node;

	library.file = "/home/user/lib/site-packages/arrays/wrappers.py";
	thin = python(fixture->back, 5, "CALL", 0);
	looping = python(fixture->back, 3, subscript(fixture), 0);
	thin.python.code = looping.python.code = &library;
	deep = native(fixture, vector_kernel, 1);

	/* Through one wrapper and through two. */
	node = INSERT(fixture, module_frame(fixture), caller, thin, deep);
	cct_node_charge(node, TIME_NATIVE, 1, 30 * MS);
	add(fixture, PAIR_LOAD, node, node, VERDICT_REDUNDANT, 300, 4);
	node = INSERT(fixture, module_frame(fixture), caller, thin, thin, deep);
	cct_node_charge(node, TIME_NATIVE, 1, 20 * MS);
	/* A library's own loop answers for itself, and so does what is called from there. */
	node = INSERT(fixture, module_frame(fixture), caller, looping, deep);
	cct_node_charge(node, TIME_NATIVE, 1, 7 * MS);
	node = INSERT(fixture, module_frame(fixture), caller, looping, thin, deep);
	cct_node_charge(node, TIME_NATIVE, 1, 2 * MS);
	/* Started from a module, outside of a loop, or with nothing else around it: its own. */
	node = INSERT(fixture, module_frame(fixture), thin, deep);
	cct_node_charge(node, TIME_NATIVE, 1, 500 * MS);
	node = INSERT(fixture, thin, thin, deep);
	cct_node_charge(node, TIME_NATIVE, 1, 600 * MS);
	profile = build(fixture);

	line = line_in(profile, "/project/", 7);
	assert_int_equal(line->self_ns[TIME_NATIVE], 0);
	assert_int_equal(line->charged_ns, 50 * MS);
	assert_int_equal(line->accesses[PAIR_LOAD].sampled, 4);
	line = line_in(profile, "/site-packages/", 3);
	assert_int_equal(line->self_ns[TIME_NATIVE], 7 * MS);
	assert_int_equal(line->charged_ns, 9 * MS);
	line = line_in(profile, "/site-packages/", 5);
	assert_int_equal(line->self_ns[TIME_NATIVE], 1152 * MS);
	assert_int_equal(line->charged_ns, 1100 * MS);
	assert_int_equal(line->accesses[PAIR_LOAD].sampled, 0);
	/* The path keeps all its frames. */
	assert_int_equal(profile->pair_count, 1);
	assert_int_equal(profile->pairs[0].first_count, 4);
	assert_string_equal(profile->pairs[0].line->file, "/project/program.py");
}

#define CALLEES 10

/* A line that calls so many functions of libraries, 100 ms each; in two something is redundant. */
static const struct profile_line *line_of_callees(struct fixture *fixture, size_t count,
						  struct python_code libraries[CALLEES])
{
	static const char *const files[CALLEES] = {
		"/site-packages/a.py", "/site-packages/b.py", "/site-packages/c.py",
		"/site-packages/d.py", "/site-packages/e.py", "/site-packages/f.py",
		"/site-packages/g.py", "/site-packages/h.py", "/site-packages/i.py",
		"/site-packages/j.py",
	};
	struct frame caller = python(fixture->again, 7, "CALL", 0);

	for (size_t i = 0; i < count; i++) {
		struct frame thin = python(fixture->back, 5, "CALL", 0);
		struct cct_node *node;

		libraries[i] = fixture->back->code;
		libraries[i].file = files[i];
		libraries[i].id = 100 + (uint32_t)i;
		thin.python.code = &libraries[i];
		node = INSERT(fixture, module_frame(fixture), caller, thin,
			      native(fixture, vector_kernel, 1));
		cct_node_charge(node, TIME_NATIVE, 1, 100 * MS);
		if (i < 2)
			add(fixture, PAIR_LOAD, node, node, VERDICT_REDUNDANT, 300, 5);
	}
	return line_in(build(fixture), "/project/", 7);
}

/* What calls every test of a library has none of their work to answer for: they have. */
static void test_line_of_many_callees(void **state)
{
	struct fixture *fixture = *state;
	struct python_code libraries[CALLEES];
	const struct profile_line *line = line_of_callees(fixture, CALLEES, libraries);

	assert_int_equal(line->total_ns, 1000 * MS);
	assert_int_equal(line->charged_ns, 0);
	assert_int_equal(line->accesses[PAIR_LOAD].sampled, 0);
	assert_int_equal(line->avoidable_ns, 0);
	line = line_in(fixture->profile, "/site-packages/b.py", 5);
	assert_int_equal(line->charged_ns, 100 * MS);
	assert_int_equal(line->accesses[PAIR_LOAD].redundant, 5);
	assert_int_equal(line_in(fixture->profile, "/site-packages/j.py", 5)->charged_ns, 100 * MS);
}

/* But a few wrappers are the doing of who calls them. */
static void test_line_of_few_callees(void **state)
{
	struct python_code libraries[CALLEES];
	const struct profile_line *line = line_of_callees(*state, 4, libraries);

	assert_int_equal(line->charged_ns, 400 * MS);
	assert_int_equal(line->accesses[PAIR_LOAD].redundant, 10);
	/* Nothing but watched memory speaks for it: a tenth. */
	assert_in_range(line->avoidable_ns, 20 * MS, 40 * MS);
	assert_in_range(line->avoidable_high_ns, 200 * MS, 800 * MS);
}

/* The whole profile as text, but for what depends on which of several equals came first. */
static char *describe(const struct profile *profile)
{
	char *text = NULL;
	size_t size = 0;
	FILE *file = open_memstream(&text, &size);

	for (size_t i = 0; i < profile->line_count; i++) {
		const struct profile_line *line = &profile->lines[i];

		fprintf(file, "%s:%d %s %lu %lu %lu %lu %lu %d\n", line->file, line->line,
			line->function, line->total_ns, line->accesses[0].sampled,
			line->accesses[1].redundant, line->avoidable_ns, line->call_ns,
			(int)line->category);
		for (size_t r = 0; r < line->reason_count; r++)
			fprintf(file, "  %s\n", line->reasons[r]);
	}
	for (size_t i = 0; i < profile->pair_count; i++) {
		const struct profile_pair *pair = &profile->pairs[i];

		fprintf(file, "%d %lu %lu %lu %d:", (int)pair->kind, pair->sampled, pair->redundant,
			pair->avoidable_ns, (int)pair->category);
		for (size_t f = 0; f < pair->first_count; f++)
			fprintf(file, " %s:%d", pair->first[f].function, pair->first[f].line);
		fprintf(file, " |");
		for (size_t f = 0; f < pair->second_count; f++)
			fprintf(file, " %s:%d", pair->second[f].function, pair->second[f].line);
		fprintf(file, "\n");
	}
	fclose(file);
	return text;
}

/* The same samples in any order make the same report: nothing hangs on addresses or on who came
 * first. */
static void test_order_is_of_the_content(void **state)
{
	struct fixture *fixture = *state;
	struct unit_random random = { .state = 9 };
	int steps[60];
	char *first = NULL;

	for (int i = 0; i < 60; i++)
		steps[i] = i;
	for (int round = 0; round < 20; round++) {
		char *text;

		for (size_t i = 59; i > 0; i--) {
			size_t with = unit_random_below(&random, i + 1);
			int step = steps[i];

			steps[i] = steps[with];
			steps[with] = step;
		}
		for (size_t i = 0; i < 60; i++) {
			struct cct_node *nodes[] = { element(fixture, 3, 0), element(fixture, 4, 1),
						     vectorised(fixture), element(fixture, 4, 0) };
			struct cct_node *a = nodes[steps[i] % 4], *b = nodes[steps[i] / 4 % 4];

			/* Many ties. */
			cct_node_charge(a, TIME_NATIVE, 1, MS);
			add(fixture, steps[i] % 2 ? PAIR_LOAD : PAIR_STORE, a, b, VERDICT_REDUNDANT,
			    100 + (uint64_t)steps[i], 1);
		}
		text = describe(build(fixture));
		if (first)
			assert_string_equal(text, first);
		else
			first = text;
		if (text != first)
			free(text);
		tear_down(state);
		set_up(state);
	}
	assert_true(strlen(first) > 500);
	free(first);
}

static void test_facts_are_copied(void **state)
{
	struct fixture *fixture = *state;
	char sampler[] = "clock", word[] = "python3";
	const char *command[] = { word, "x.py", NULL };
	const struct profile *profile;

	fixture->facts.sampler = sampler;
	fixture->facts.target.command = command;
	fixture->facts.samples = 17;
	profile = build(fixture);
	memset(sampler, 'x', sizeof(sampler));
	memset(word, 'x', sizeof(word));
	command[1] = NULL;
	assert_string_equal(profile->facts.sampler, "clock");
	assert_string_equal(profile->facts.target.command[0], "python3");
	assert_string_equal(profile->facts.target.command[1], "x.py");
	assert_null(profile->facts.target.command[2]);
	assert_int_equal(profile->facts.samples, 17);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_empty),
		TEST(test_time_by_line),
		TEST(test_kernel_without_python),
		TEST(test_recursion_counts_once),
		TEST(test_instruction_without_line_counts_for_the_function),
		TEST(test_library_wrappers_charge_their_caller),
		TEST(test_line_of_many_callees),
		TEST(test_line_of_few_callees),
		TEST(test_order_is_of_the_content),
		TEST(test_facts_are_copied),
	};

	return cmocka_run_group_tests(tests, group_set_up, group_tear_down);
}
