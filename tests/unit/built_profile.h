/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Trees and pairs made by hand, and the profile built of them. The Python code
 * is compiled by a real interpreter; the native functions are this program's
 * own, found through its real map and symbols.
 */
#ifndef PIEPROFD_TESTS_UNIT_BUILT_PROFILE_H
#define PIEPROFD_TESTS_UNIT_BUILT_PROFILE_H

#include "compiled_python.h"
#include "daemon/report/model/profile_build.h"
#include "symbolize_self.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#define MS 1000000ull

static const char program[] =
	/* 1 */ "def back(g, d, r, n):\n"
		/* 2 */ "    for f in range(n):\n"
		/* 3 */ "        g[f] += d[f, 1] * r\n"
		/* 4 */ "        g[f] += d[f, 2]\n"
		/* 5 */ "    return g.dot(d)\n"
		/* 6 */ "def again(k):\n"
		/* 7 */ "    return again(k - 1) if k else [back(i) for i in 'ab']\n"
		/* 8 */ "again(3)\n";

/* Stand-ins for a library's functions: only their names and addresses count. */
__attribute__((noinline, used)) static int array_subscript(int x)
{
	__asm__ volatile("");
	return x + 1;
}

__attribute__((noinline, used)) static int vector_kernel(int x)
{
	__asm__ volatile("");
	return x + 2;
}

__attribute__((noinline, used)) static int gc_collect_main(int x)
{
	__asm__ volatile("");
	return x + 3;
}

struct fixture {
	struct compiled_python compiled;
	const struct compiled_code *module, *back, *again;
	struct mapping_list mappings;
	struct mapping_opener opener;
	struct memory_reader reader;
	struct module_table *modules;
	struct symbolizer *symbolizer;
	char source_path[64];
	/* for each test */
	struct cct *cct;
	struct pair_table *pairs;
	struct profile_facts facts;
	struct profile *profile;
};

/* Every path is the program's. */
static inline int open_source(void *context, const char *path)
{
	const struct fixture *fixture = context;
	int fd;

	if (strstr(path, "/site-packages/"))
		return -ENOENT;
	fd = open(fixture->source_path, O_RDONLY | O_CLOEXEC);
	assert_string_equal(path, "/project/program.py");
	return fd < 0 ? -errno : fd;
}

static inline int group_set_up(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));
	int fd;

	if (!fixture || !live_pythons()->count)
		return -1;
	fixture->compiled = compiled_python(&live_pythons()->items[0], program);
	fixture->module = compiled_function(&fixture->compiled, "<module>");
	fixture->back = compiled_function(&fixture->compiled, "back");
	fixture->again = compiled_function(&fixture->compiled, "again");
	self_read_maps(&fixture->mappings);
	fixture->opener.open = self_open;
	fixture->reader.read = self_read;
	fixture->modules = module_table_create(&fixture->opener, &fixture->reader);
	fixture->symbolizer = symbolizer_create();
	if (!fixture->modules || module_table_update(fixture->modules, &fixture->mappings))
		return -1;
	strcpy(fixture->source_path, "/tmp/pieprofd-test-XXXXXX");
	fd = mkstemp(fixture->source_path);
	if (fd < 0 || write(fd, program, sizeof(program) - 1) != sizeof(program) - 1)
		return -1;
	close(fd);
	*state = fixture;
	return 0;
}

static inline int group_tear_down(void **state)
{
	struct fixture *fixture = *state;

	unlink(fixture->source_path);
	symbolizer_destroy(fixture->symbolizer);
	module_table_destroy(fixture->modules);
	mapping_list_deinit(&fixture->mappings);
	compiled_python_free(&fixture->compiled);
	free(fixture);
	return 0;
}

static inline int set_up(void **state)
{
	struct fixture *fixture = *state;

	fixture->cct = cct_create(100000);
	fixture->pairs = pair_table_create(100000);
	fixture->profile = NULL;
	fixture->facts = (struct profile_facts){
		.version = "1",
		.sampler = "clock",
		.open_source = open_source,
		.open_source_context = fixture,
	};
	return 0;
}

static inline int tear_down(void **state)
{
	struct fixture *fixture = *state;

	profile_destroy(fixture->profile);
	pair_table_destroy(fixture->pairs);
	cct_destroy(fixture->cct);
	return 0;
}

static inline const struct profile *build(struct fixture *fixture)
{
	profile_destroy(fixture->profile);
	fixture->profile =
		profile_build(fixture->cct, fixture->pairs, fixture->symbolizer, &fixture->facts);
	assert_non_null(fixture->profile);
	return fixture->profile;
}

/* ---- stacks ---- */

static inline struct frame python(const struct compiled_code *code, int line, const char *opcode,
				  size_t n)
{
	struct frame frame = { .kind = FRAME_PYTHON, .python = { .code = &code->code } };

	frame.python.instruction_offset = compiled_offset(code, line, opcode, n);
	assert_true(frame.python.instruction_offset >= 0);
	return frame;
}

static inline struct frame native(const struct fixture *fixture, int (*function)(int),
				  unsigned offset)
{
	remote_addr address = (uintptr_t)function;

	return (struct frame){ .kind = FRAME_NATIVE,
			       .native = { .module = module_find(fixture->modules, address),
					   .function = address,
					   .pc = address + offset } };
}

#define INSERT(fixture, ...)                                                                       \
	cct_insert((fixture)->cct, (const struct frame[]){ __VA_ARGS__ },                          \
		   sizeof((const struct frame[]){ __VA_ARGS__ }) / sizeof(struct frame))

static inline struct frame module_frame(const struct fixture *fixture)
{
	return python(fixture->module, 8, "CALL", 0);
}

/* 3.14 made it an operator like the others, and the first two of lines 3 and 4. */
static inline const char *subscript(const struct fixture *fixture)
{
	return fixture->back->code.minor >= 14 ? "BINARY_OP" : "BINARY_SUBSCR";
}

/* The element access of line 3 or 4, the n-th subscript there. */
static inline struct cct_node *element(const struct fixture *fixture, int line, size_t n)
{
	return INSERT(fixture, module_frame(fixture),
		      python(fixture->back, line, subscript(fixture), n),
		      native(fixture, array_subscript, 1));
}

static inline struct cct_node *vectorised(const struct fixture *fixture)
{
	return INSERT(fixture, module_frame(fixture), python(fixture->back, 5, "CALL", 0),
		      native(fixture, vector_kernel, 1));
}

static inline void add(struct fixture *fixture, enum pair_kind kind, const struct cct_node *first,
		       const struct cct_node *second, enum access_verdict verdict, uint64_t left_ns,
		       int count)
{
	struct pair_evidence evidence = {
		.call_ns = left_ns, .distance_ns = 1, .memory = MEMORY_HEAP, .bytes = 8
	};

	while (count-- > 0)
		assert_int_equal(
			pair_table_add(fixture->pairs, kind, first, second, verdict, &evidence), 0);
}

static inline const struct profile_line *line_of(const struct profile *profile, int line)
{
	for (size_t i = 0; i < profile->line_count; i++)
		if (profile->lines[i].line == line)
			return &profile->lines[i];
	return NULL;
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

#endif
