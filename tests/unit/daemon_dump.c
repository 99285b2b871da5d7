/* SPDX-License-Identifier: Apache-2.0 */
/* What a dump says of what it lacks. */
#include "daemon/inspect/dump_writer.h"

#include <jansson.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static char *written(const struct thread_dump *dump, bool json)
{
	struct writer_options options = { .columns = 200 };
	char *text = NULL;
	size_t size;
	FILE *file = open_memstream(&text, &size);

	assert_non_null(file);
	assert_int_equal(json ? dump_write_json(dump, file) : dump_write_text(dump, &options, file),
			 0);
	fclose(file);
	return text;
}

static void test_losses(void **state)
{
	static const struct {
		struct thread_dump dump;
		const char *name;
		enum loss loss;
	} cases[] = {
		{ { .lost_files = 3 }, "file_lost", LOSS_FILE_LOST },
		{ { .left_out = 3 }, "target_limit", LOSS_TARGET_LIMIT },
		{ { .sources.denied = 3 }, "source_denied", LOSS_SOURCE_DENIED },
	};
	const size_t count = sizeof(cases) / sizeof(cases[0]);

	(void)state;
	for (size_t i = 0; i < count; i++) {
		char *text = written(&cases[i].dump, false), *json = written(&cases[i].dump, true);
		json_t *object = json_loads(json, 0, NULL);

		for (size_t k = 0; k < count; k++) {
			assert_int_equal(strstr(text, loss_words(cases[k].loss)) != NULL, i == k);
			assert_int_equal(json_integer_value(json_object_get(object, cases[k].name)),
					 i == k ? 3 : 0);
		}
		json_decref(object);
		free(text);
		free(json);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_losses),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
