/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/capture/target_sources.h"

#include "common/array.h"
#include "pyintrospect/python_sources.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TITLES_MAX (2 * PYTHON_SOURCES_TITLES)
#define TITLE_SIZE 32

struct titled {
	char *name;
	char title[TITLE_SIZE];
};

struct target_sources {
	struct target_files *files;
	pthread_mutex_t lock; /* of what follows */
	struct python_sources known;
	struct titled **titles; /* only ever added to: reports refer to them */
	size_t title_count, title_capacity;
};

struct target_sources *target_sources_create(struct target_files *files)
{
	struct target_sources *sources = calloc(1, sizeof(*sources));

	if (!sources)
		return NULL;
	sources->files = files;
	pthread_mutex_init(&sources->lock, NULL);
	return sources;
}

void target_sources_destroy(struct target_sources *sources)
{
	if (!sources)
		return;
	for (size_t i = 0; i < sources->title_count; i++) {
		free(sources->titles[i]->name);
		free(sources->titles[i]);
	}
	free(sources->titles);
	python_sources_deinit(&sources->known);
	pthread_mutex_destroy(&sources->lock);
	free(sources);
}

/* The latest of that name: a cell that runs again has another number. */
static const struct titled *find_title(const struct target_sources *sources, const char *name)
{
	for (size_t i = sources->title_count; i-- > 0;)
		if (!strcmp(sources->titles[i]->name, name))
			return sources->titles[i];
	return NULL;
}

/* NULL: no room for it. */
static const struct titled *add_title(struct target_sources *sources, const char *name,
				      uint64_t number)
{
	const struct titled *known = find_title(sources, name);
	struct titled *titled;
	char title[TITLE_SIZE];

	snprintf(title, sizeof(title), "In [%" PRIu64 "]", number);
	if (known && !strcmp(known->title, title))
		return known;
	if (sources->title_count == TITLES_MAX ||
	    !ARRAY_ROOM(sources->titles, sources->title_count, sources->title_capacity))
		return NULL;
	titled = calloc(1, sizeof(*titled));
	if (titled)
		titled->name = strdup(name);
	if (!titled || !titled->name) {
		free(titled);
		return NULL;
	}
	memcpy(titled->title, title, sizeof(titled->title));
	sources->titles[sources->title_count++] = titled;
	return titled;
}

void target_sources_read(struct target_sources *sources, const struct python_runtime *runtime)
{
	struct python_sources now;

	if (!runtime || !sources || python_sources_read(runtime, &now))
		return;
	pthread_mutex_lock(&sources->lock);
	for (size_t i = 0; i < now.title_count; i++)
		(void)add_title(sources, now.titles[i].name, now.titles[i].number);
	python_sources_deinit(&sources->known);
	sources->known = now;
	pthread_mutex_unlock(&sources->lock);
}

/* Of IPython before 8: <ipython-input-12-3f0a>. */
static bool parse_input(const char *name, uint64_t *ret_number)
{
	static const char beginning[] = "<ipython-input-";
	char *end;

	if (strncmp(name, beginning, sizeof(beginning) - 1) != 0)
		return false;
	*ret_number = strtoull(name + sizeof(beginning) - 1, &end, 10);
	return end > name + sizeof(beginning) - 1 && *end == '-';
}

const char *target_sources_title(void *context, const char *name)
{
	struct target_sources *sources = context;
	const struct titled *titled;
	uint64_t number;

	if (!sources)
		return name;
	pthread_mutex_lock(&sources->lock);
	titled = parse_input(name, &number) ? add_title(sources, name, number)
					    : find_title(sources, name);
	pthread_mutex_unlock(&sources->lock);
	return titled ? titled->title : name;
}

/* The name that has this title. */
static const char *name_of_title(const struct target_sources *sources, const char *title)
{
	for (size_t i = sources->title_count; i-- > 0;)
		if (!strcmp(sources->titles[i]->title, title))
			return sources->titles[i]->name;
	return title;
}

char *target_sources_text(void *context, const char *name, size_t *ret_size)
{
	struct target_sources *sources = context;
	char *text = NULL;

	if (!sources)
		return NULL;
	pthread_mutex_lock(&sources->lock);
	name = name_of_title(sources, name);
	for (size_t i = 0; i < sources->known.count && !text; i++) {
		const struct python_source *source = &sources->known.items[i];

		if (strcmp(source->name, name) != 0)
			continue;
		text = malloc(source->size + 1);
		if (!text)
			break;
		memcpy(text, source->text, source->size);
		text[source->size] = '\0';
		*ret_size = source->size;
	}
	pthread_mutex_unlock(&sources->lock);
	return text;
}

/* "<frozen importlib._bootstrap>": the path without its ending; false: it is none. */
static bool frozen_path(const char *name, const char *library, char *path, size_t size)
{
	static const char beginning[] = "<frozen ";
	size_t length = strlen(name), used;

	if (!library || strncmp(name, beginning, sizeof(beginning) - 1) != 0 ||
	    name[length - 1] != '>' || strchr(name, '/'))
		return false;
	used = (size_t)snprintf(path, size, "%s/%.*s", library, (int)(length - sizeof(beginning)),
				name + sizeof(beginning) - 1);
	/* With room for the ending. */
	if (used + sizeof("/__init__.py") > size)
		return false;
	for (char *at = path + strlen(library) + 1; *at; at++)
		if (*at == '.')
			*at = '/';
	return true;
}

static int open_frozen(struct target_files *files, const char *stem)
{
	char path[PATH_MAX + 16];
	int fd;

	snprintf(path, sizeof(path), "%s.py", stem);
	fd = target_files_open_source(files, path);
	if (fd != -ENOENT)
		return fd;
	snprintf(path, sizeof(path), "%s/__init__.py", stem);
	return target_files_open_source(files, path);
}

int target_sources_open(void *context, const char *name)
{
	struct target_sources *sources = context;
	bool frozen, elsewhere;
	char stem[PATH_MAX];

	if (!sources)
		return -ENOENT;
	pthread_mutex_lock(&sources->lock);
	name = name_of_title(sources, name);
	frozen = frozen_path(name, sources->known.library, stem, sizeof(stem));
	/* Of a packed program no name is a file's but those that begin at the root. */
	elsewhere = sources->known.packed && name[0] != '/';
	pthread_mutex_unlock(&sources->lock);
	if (frozen && !elsewhere)
		return open_frozen(sources->files, stem);
	return name[0] == '<' || elsewhere ? -ENOENT
					   : target_files_open_source(sources->files, name);
}

bool target_sources_cut(struct target_sources *sources)
{
	bool cut;

	if (!sources)
		return false;
	pthread_mutex_lock(&sources->lock);
	cut = sources->known.cut;
	pthread_mutex_unlock(&sources->lock);
	return cut;
}
