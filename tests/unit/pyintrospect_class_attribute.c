/* SPDX-License-Identifier: Apache-2.0 */
/* What attributes mean by their class, on every interpreter found; and by classes that are none. */
#include "pyintrospect/class_attribute.h"

#include "pyintrospect/runtime_internal.h"
#include "tests/unit/support_live.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#define LINE_MAX_BYTES 128
#define FORGERIES      20000

/* FIND kind type name code offset */
static const char program[] =
	"import re, sys, time, functools\n"
	"class Base(object):\n"
	"    size = 12\n"
	"    word = 'w'\n"
	"    kept = {}\n"
	"    def above(self): pass\n"
	"    def hidden(self): pass\n"
	"class Order(Base):\n"
	"    __slots__ = ('a', 'b')\n"
	"    hidden = 3\n"
	"    def total(self): pass\n"
	"    @property\n"
	"    def rate(self): pass\n"
	"    @staticmethod\n"
	"    def fixed(): pass\n"
	"    @classmethod\n"
	"    def made(cls): pass\n"
	"    cached = functools.lru_cache()(lambda self: 1)\n"
	"class Proxy(object):\n"
	"    def __getattr__(self, name): pass\n"
	"def find(kind, type, name, code=None):\n"
	"    print('FIND', kind, id(type), id(sys.intern(name)), id(code) if code else 0)\n"
	"find(0, Order, 'nothing')\n"
	"find(1, Order, 'total', Order.total.__code__)\n"
	"find(1, Order, 'above', Base.above.__code__)\n"
	"find(1, Base, 'hidden', Base.hidden.__code__)\n"
	"find(1, Order, 'rate', Order.rate.fget.__code__)\n"
	"find(2, Order, 'a')\n"
	"find(2, Order, 'b')\n"
	"find(3, Order, 'fixed')\n"
	"find(3, Order, 'made')\n"
	"find(4, Order, 'hidden')\n"
	"find(4, Order, 'size')\n"
	"find(4, Base, 'word')\n"
	"find(5, Order, 'kept')\n"
	"find(5, Order, 'cached')\n"
	"find(0, int, 'real')\n"
	"find(9, Proxy, 'nothing')\n"
	"print('END')\n"
	"sys.stdout.flush()\n"
	"time.sleep(1000)\n";

#define REFUSED 9

static void check_line(const struct python_runtime *runtime, const char *line)
{
	struct class_attributes attributes;
	struct class_attribute found;
	remote_addr type, name, code;
	int kind, error;

	assert_int_equal(sscanf(line, "FIND %d %lu %lu %lu", &kind, &type, &name, &code), 4);
	error = class_attributes_read(runtime, type, &attributes);
	if (kind == REFUSED) {
		assert_int_equal(error, -EBADMSG);
		return;
	}
	assert_int_equal(error, 0);
	found = class_attribute_find(&attributes, name);
	if (found.kind != (enum class_attribute_kind)kind)
		print_error("%s: found %d\n", line, found.kind);
	assert_int_equal(found.kind, kind);
	assert_int_equal(found.code, code);
	assert_true(found.kind != CLASS_SLOT || (found.offset >= 16 && found.offset % 8 == 0));
	class_attributes_deinit(&attributes);
}

static void test_live(void **state)
{
	const struct live_pythons *pythons = live_pythons();

	(void)state;
	if (!pythons->count)
		skip();
	for (size_t i = 0; i < pythons->count; i++) {
		struct python_runtime *runtime = calloc(1, sizeof(*runtime));
		const int minor = pythons->items[i].minor;
		struct live_target target;
		struct live_memory memory;
		struct memory_reader reader;
		char line[LINE_MAX_BYTES];
		unsigned lines = 0;

		assert_non_null(runtime);
		assert_true(live_target_start(&target, pythons->items[i].path, program));
		memory = (struct live_memory){ .pid = target.pid };
		reader = (struct memory_reader){ .context = &memory, .read = live_memory_read };
		runtime->reader = &reader;
		runtime->layout = *python_layout_builtin(minor);
		while (live_target_line(&target, line, sizeof(line)) && strcmp(line, "END")) {
			check_line(runtime, line);
			lines++;
		}
		assert_int_equal(lines, 16);
		live_target_end(&target);
		free(runtime);
	}
}

/* Words as they come. */
static int forge(void *context, struct memory_range *ranges, size_t count)
{
	(void)context;
	for (size_t i = 0; i < count; i++) {
		uint8_t *bytes = ranges[i].buffer;

		ranges[i].error = rand() % 200 ? 0 : -EFAULT;
		for (size_t at = 0; at < ranges[i].size; at++)
			bytes[at] = rand() % 3 ? 0 : (uint8_t)rand();
		if (ranges[i].size == 6 && rand() % 2)
			memcpy(bytes, "tuple", 6);
	}
	return 0;
}

static void test_forged(void **state)
{
	const struct memory_reader reader = { .read = forge };
	struct python_runtime *runtime = calloc(1, sizeof(*runtime));

	(void)state;
	assert_non_null(runtime);
	srand(3);
	runtime->reader = &reader;
	runtime->layout = *python_layout_builtin(11);
	for (unsigned i = 0; i < FORGERIES; i++) {
		struct class_attributes attributes;

		if (class_attributes_read(runtime, 0x10000, &attributes))
			continue;
		assert_true(attributes.count <= CLASS_BASES_MAX);
		(void)class_attribute_find(&attributes, 0);
		class_attributes_deinit(&attributes);
	}
	free(runtime);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_live),
		cmocka_unit_test(test_forged),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
