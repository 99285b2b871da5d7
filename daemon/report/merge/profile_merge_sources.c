/* SPDX-License-Identifier: Apache-2.0 */
/* Source files of several profiles, and the text that reports show of them. */
#include "common/array.h"
#include "daemon/report/merge/profile_merge.h"
#include "daemon/report/merge/profile_merge_parts.h"
#include "daemon/report/model/source_text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int merge_texts_copy(struct profile_merge *merge, const struct profile_source *source,
			    struct profile_text *copies)
{
	for (size_t i = 0; i < source->text_count; i++) {
		copies[i] = source->texts[i];
		if (merge_string(&merge->frames, source->texts[i].text, &copies[i].text))
			return -ENOMEM;
	}
	return 0;
}

/* Lines of either, each once, by number. Both are of one text of the file. */
static size_t merge_texts_join(const struct profile_source *known, const struct profile_text *texts,
			       size_t count, struct profile_text *joined)
{
	size_t used = 0, at = 0, other = 0;

	while (at < known->text_count || other < count) {
		if (other == count ||
		    (at < known->text_count && known->texts[at].line <= texts[other].line)) {
			if (other < count && known->texts[at].line == texts[other].line)
				other++;
			joined[used++] = known->texts[at++];
		} else {
			joined[used++] = texts[other++];
		}
	}
	return used;
}

static int merge_texts(struct profile_merge *merge, struct profile_source *known,
		       const struct profile_source *source)
{
	struct profile_text *copies, *joined;
	size_t room = known->text_count + source->text_count;

	if (!source->text_count || room > 2 * (size_t)SOURCE_TEXTS_MAX)
		return 0;
	copies = calloc(source->text_count, sizeof(*copies));
	joined = calloc(room, sizeof(*joined));
	if (!copies || !joined || merge_texts_copy(merge, source, copies)) {
		free(copies);
		free(joined);
		return -ENOMEM;
	}
	known->text_count = merge_texts_join(known, copies, source->text_count, joined);
	free(copies);
	free((void *)(uintptr_t)known->texts);
	known->texts = joined;
	return 0;
}

/* Of two processes that read different texts of a file, either may run an older one. */
static int merge_source(struct profile_merge *merge, struct profile_source *known,
			const struct profile_source *source, const char *sha256)
{
	int order = strcmp(sha256, known->sha256);
	bool differs = order != 0;
	bool newer = source->modified_unix_ns > known->modified_unix_ns ||
		     (source->modified_unix_ns == known->modified_unix_ns && order > 0);

	if (differs && newer) {
		known->sha256 = sha256;
		known->size = source->size;
		known->modified_unix_ns = source->modified_unix_ns;
		known->text_count = 0;
	}
	known->newer_than_process |= source->newer_than_process || differs;
	return differs && !newer ? 0 : merge_texts(merge, known, source);
}

int merge_source_add(struct profile_merge *merge, const struct profile_source *source)
{
	struct profile_source copy = *source;

	copy.texts = NULL;
	copy.text_count = 0;
	if (merge_string(&merge->frames, source->file, &copy.file) ||
	    merge_string(&merge->frames, source->sha256, &copy.sha256))
		return -ENOMEM;
	for (size_t i = 0; i < merge->source_count; i++)
		if (merge->sources[i].file == copy.file)
			return merge_source(merge, &merge->sources[i], source, copy.sha256);
	if (merge->source_count >= MERGE_SOURCES_MAX)
		return 0; /* the lines have their text all the same */
	if (!ARRAY_ROOM(merge->sources, merge->source_count, merge->source_capacity))
		return -ENOMEM;
	merge->sources[merge->source_count++] = copy;
	return merge_texts(merge, &merge->sources[merge->source_count - 1], source);
}

void merge_sources_free(struct profile_merge *merge)
{
	for (size_t i = 0; i < merge->source_count; i++)
		free((void *)(uintptr_t)merge->sources[i].texts);
	free(merge->sources);
}
