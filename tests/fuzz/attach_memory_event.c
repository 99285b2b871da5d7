/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Descriptions of PMUs as sysfs has them: the text is "DEVICE/FILE value" lines,
 * each of which is a file of a folder made for it.
 */
#include "attach/memory_event.h"
#include "tests/fuzz/fuzz.h"

#include <sys/stat.h>

#define FILES_MAX 24

static char folder[64];

static void remove_folder(void)
{
	(void)rmdir(folder);
}

static void make_folder(void)
{
	if (folder[0])
		return;
	/* In memory where that is so. */
	snprintf(folder, sizeof(folder), "%s/pieprofd-fuzz-XXXXXX",
		 access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
	fuzz_must(mkdtemp(folder));
	atexit(remove_folder);
}

/* Files and folders made, to be removed from the last to the first. */
struct made {
	char paths[FILES_MAX][192];
	size_t count;
};

static void make_parents(struct made *made, char *path, size_t from)
{
	for (char *slash = strchr(path + from, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		if (made->count < FILES_MAX && mkdir(path, 0700) == 0)
			snprintf(made->paths[made->count++], sizeof(made->paths[0]), "%s", path);
		*slash = '/';
	}
}

static void make_file(struct made *made, const char *name, const char *value)
{
	char path[192];
	FILE *file;

	/* Names lead nowhere else. */
	if (*name == '/' || strstr(name, ".."))
		return;
	if (snprintf(path, sizeof(path), "%s/%s", folder, name) >= (int)sizeof(path))
		return;
	make_parents(made, path, strlen(folder) + 1);
	file = made->count < FILES_MAX ? fopen(path, "we") : NULL;
	if (!file)
		return;
	fputs(value, file);
	fclose(file);
	snprintf(made->paths[made->count++], sizeof(made->paths[0]), "%s", path);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct fuzz_input input = { data, size };
	char *text = fuzz_text(&input), *rest = NULL;
	struct memory_event events[MEMORY_EVENTS_MAX];
	struct made made = { .count = 0 };
	size_t count;

	make_folder();
	for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		char *value = strchr(line, ' ');

		if (value) {
			*value++ = '\0';
			make_file(&made, line, value);
		}
	}
	count = memory_event_find(folder, ACCESS_LOAD | ACCESS_STORE, events);
	fuzz_must(count <= MEMORY_EVENTS_MAX);
	for (size_t i = 0; i < count; i++) {
		struct perf_event_attr attributes = { 0 };

		fuzz_must(memchr(events[i].name, '\0', sizeof(events[i].name)));
		for (unsigned skid = 0; skid < 4; skid++)
			memory_event_attributes(&events[i], skid, &attributes);
		(void)memory_event_kinds(&events[i], attributes.config);
	}
	while (made.count--)
		(void)remove(made.paths[made.count]);
	free(text);
	return 0;
}
