/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/cli/recording_list.h"

#include "common/array.h"
#include "common/printable.h"
#include "common/whole_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define NAME_COLUMNS 160

static int refuse_memory(struct error *error)
{
	error_set(error, EXIT_INTERNAL, "out of memory");
	return -1;
}

static int add_path(struct recording_list *list, const char *path, struct error *error)
{
	if (list->count >= RECORDING_LIST_MAX) {
		error_set(error, EXIT_USAGE, "at most %u recordings", RECORDING_LIST_MAX);
		error_set_cure(error, "fold some of them first: -o PART.pieprof");
		return -1;
	}
	if (!ARRAY_ROOM(list->paths, list->count, list->capacity))
		return refuse_memory(error);
	list->paths[list->count++] = path;
	return 0;
}

/* Takes the text, which has a NUL at its end. */
static int add_names(struct recording_list *list, char *text, size_t size, struct error *error)
{
	char separator = memchr(text, '\0', size) ? '\0' : '\n';
	char *at = text, *end = text + size;

	if (!ARRAY_ROOM(list->texts, list->text_count, list->text_capacity)) {
		free(text);
		return refuse_memory(error);
	}
	list->texts[list->text_count++] = text;
	while (at < end) {
		char *next = memchr(at, separator, (size_t)(end - at));

		if (!next)
			next = end;
		*next = '\0';
		if (*at && add_path(list, at, error))
			return -1;
		at = next + 1;
	}
	return 0;
}

int recording_list_add(struct recording_list *list, const char *word, struct error *error)
{
	const char *path = word + 1;
	char name[PRINTABLE_BYTES(NAME_COLUMNS)], *text;
	size_t size, before = list->count;
	int failure;

	if (word[0] != '@')
		return add_path(list, word, error);
	if (!strcmp(path, "-"))
		path = "/dev/stdin";
	printable_fit(name, sizeof(name), path, NAME_COLUMNS, true);
	failure = whole_file_read(path, RECORDING_LIST_BYTES_MAX, &text, &size);
	if (failure) {
		error_set(error, failure == -EACCES ? EXIT_PERMISSION : EXIT_USAGE,
			  "%s cannot be read: %s", name, strerror(-failure));
		error_set_cure(error, "@FILE names recordings, one a line; ./@FILE is a recording "
				      "of that name");
		return -1;
	}
	if (add_names(list, text, size, error))
		return -1;
	if (list->count > before)
		return 0;
	error_set(error, EXIT_USAGE, "%s names no recording", name);
	error_set_cure(error, "@FILE has the name of a recording in each line");
	return -1;
}

void recording_list_deinit(struct recording_list *list)
{
	for (size_t i = 0; i < list->text_count; i++)
		free(list->texts[i]);
	free(list->texts);
	free(list->paths);
	*list = (struct recording_list){ 0 };
}
