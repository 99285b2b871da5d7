/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/report/model/profile_sources.h"

#include "common/root_file.h"
#include "daemon/report/model/source_text.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int compare_files(const void *left, const void *right)
{
	const struct profile_source *a = left, *b = right;

	return strcmp(a->file, b->file);
}

int profile_sources_collect(struct profile *profile, struct source_cache *cache,
			    struct arena *arena)
{
	uint64_t started_ns = profile->facts.process_started_unix_ns;
	struct source_version version;
	struct profile_source *sources;
	const char *path;
	size_t count = 0;

	while (source_cache_file(cache, count, &version))
		count++;
	sources = arena_array(arena, count + 1, sizeof(*sources));
	if (!sources)
		return -ENOMEM;
	for (size_t i = 0; i < count && (path = source_cache_file(cache, i, &version)); i++)
		sources[i] = (struct profile_source){
			.file = arena_copy_string(arena, path),
			.sha256 = arena_copy_string(arena, version.sha256),
			.size = version.size,
			.modified_unix_ns = version.modified_unix_ns,
			.newer_than_process = started_ns && version.modified_unix_ns > started_ns,
		};
	if (arena->failed)
		return -ENOMEM;
	qsort(sources, count, sizeof(*sources), compare_files);
	profile->sources = sources;
	profile->source_count = count;
	return source_texts_collect(profile, sources, count, cache, arena);
}

/* *left: bytes that may still be read, of all files. */
static bool differs(const struct profile_source *source, uint64_t *left)
{
	struct source_version version;
	struct stat status;
	bool result = false;
	int fd;

	/* A recording may come from anywhere, and name anything. */
	if (source->file[0] != '/' || !source->sha256[0])
		return false;
	fd = root_file_open(ROOT_OWN, source->file, ROOT_LINK_FOLLOW);
	if (fd < 0)
		return false;
	if (!fstat(fd, &status)) {
		if ((uint64_t)status.st_size != source->size) {
			result = true;
		} else if (source->size <= *left && !source_version_read(fd, &version)) {
			*left -= source->size;
			result = strcmp(version.sha256, source->sha256) != 0;
		}
	}
	close(fd);
	return result;
}

int profile_sources_compare(struct profile *profile, struct arena *arena)
{
	struct profile_source *sources =
		arena_array(arena, profile->source_count + 1, sizeof(*sources));
	uint64_t left = SOURCE_BYTES_MAX;

	if (!sources)
		return -ENOMEM;
	/* Paths of another root are other files here. */
	if (profile->facts.other_root)
		return 0;
	for (size_t i = 0; i < profile->source_count; i++) {
		sources[i] = profile->sources[i];
		sources[i].differs_now = i < SOURCE_FILES_MAX && differs(&sources[i], &left);
	}
	profile->sources = sources;
	return 0;
}

static char *sentence(const char *first, size_t count, const char *words)
{
	char *text = NULL;

	if (count == 1 && asprintf(&text, "%s %s", first, words) < 0)
		return NULL;
	if (count > 1 && asprintf(&text, "%s and %zu more %s", first, count - 1, words) < 0)
		return NULL;
	return text;
}

char *profile_sources_newer(const struct profile *profile)
{
	const char *first = NULL;
	size_t count = 0;

	for (size_t i = 0; i < profile->source_count; i++)
		if (profile->sources[i].newer_than_process && count++ == 0)
			first = profile->sources[i].file;
	return sentence(
		first, count,
		"changed after the process had started: what it ran may be an older text than "
		"the lines shown");
}

char *profile_sources_differing(const struct profile *profile)
{
	const char *first = NULL;
	size_t count = 0;

	for (size_t i = 0; i < profile->source_count; i++)
		if (profile->sources[i].differs_now && count++ == 0)
			first = profile->sources[i].file;
	return sentence(first, count,
			"changed since the recording: the lines shown are those of that time");
}
