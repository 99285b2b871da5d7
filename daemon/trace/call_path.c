/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/trace/call_path.h"

#include "common/array.h"
#include "common/hash.h"
#include "daemon/cct/library_path.h"
#include "daemon/report/encode/escape.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SLOTS_FIRST 256

void call_paths_deinit(struct call_paths *paths)
{
	for (size_t i = 0; i < paths->text_slots; i++)
		free(paths->texts[i]);
	free(paths->texts);
	free(paths->frames);
	free(paths->slots);
	*paths = (struct call_paths){ 0 };
}

/* ---- names ---- */

static bool grow_texts(struct call_paths *paths)
{
	size_t count = paths->text_slots ? 2 * paths->text_slots : SLOTS_FIRST;
	char **texts;

	if (2 * paths->text_count < paths->text_slots)
		return true;
	texts = calloc(count, sizeof(texts[0]));
	if (!texts)
		return false;
	for (size_t i = 0; i < paths->text_slots; i++) {
		size_t at;

		if (!paths->texts[i])
			continue;
		at = hash_bytes(paths->texts[i], strlen(paths->texts[i])) % count;
		while (texts[at])
			at = (at + 1) % count;
		texts[at] = paths->texts[i];
	}
	free(paths->texts);
	paths->texts = texts;
	paths->text_slots = count;
	return true;
}

/* The one copy of it. NULL: no memory. */
static const char *keep_text(struct call_paths *paths, const char *text)
{
	size_t size = strnlen(text, CALL_TEXT_BYTES), at;

	if (!grow_texts(paths))
		return NULL;
	at = hash_bytes(text, size) % paths->text_slots;
	while (paths->texts[at] &&
	       (strlen(paths->texts[at]) != size || memcmp(paths->texts[at], text, size) != 0))
		at = (at + 1) % paths->text_slots;
	if (!paths->texts[at]) {
		paths->texts[at] = strndup(text, size);
		paths->text_count += paths->texts[at] != NULL;
	}
	return paths->texts[at];
}

/* ---- frames ---- */

static bool same(const struct call_frame *a, const struct call_frame *b)
{
	return a->caller == b->caller && a->line == b->line && a->function == b->function &&
	       a->file == b->file;
}

/* Names are there once: their addresses tell them apart. */
static uint64_t hash_of(const struct call_frame *frame)
{
	uint64_t hash = hash_combine(frame->caller, (uint64_t)frame->line);

	return hash_combine(hash_combine(hash, (uintptr_t)frame->function), (uintptr_t)frame->file);
}

static size_t slot_of(const struct call_paths *paths, const struct call_frame *frame)
{
	size_t at = hash_of(frame) % paths->slot_count;

	while (paths->slots[at] && !same(&paths->frames[paths->slots[at]], frame))
		at = (at + 1) % paths->slot_count;
	return at;
}

static bool grow_slots(struct call_paths *paths)
{
	uint32_t *old = paths->slots;
	size_t old_count = paths->slot_count;

	if (2 * (size_t)paths->count < old_count)
		return true;
	paths->slot_count = old_count ? 2 * old_count : SLOTS_FIRST;
	paths->slots = calloc(paths->slot_count, sizeof(paths->slots[0]));
	if (!paths->slots) {
		paths->slots = old;
		paths->slot_count = old_count;
		return false;
	}
	for (uint32_t i = 1; i < paths->count; i++)
		paths->slots[slot_of(paths, &paths->frames[i])] = i;
	free(old);
	return true;
}

static bool begin(struct call_paths *paths)
{
	if (paths->count)
		return true;
	if (!ARRAY_ROOM(paths->frames, paths->count, paths->capacity))
		return false;
	paths->frames[paths->count++] = (struct call_frame){ 0 };
	return true;
}

uint32_t call_paths_add(struct call_paths *paths, uint32_t caller, const char *function,
			const char *file, int line)
{
	struct call_frame frame = { .line = line, .caller = caller };
	size_t slot;

	if (begin(paths) && grow_slots(paths)) {
		frame.function = keep_text(paths, function);
		frame.file = keep_text(paths, file);
	}
	if (!frame.function || !frame.file) {
		paths->left_out++;
		return CALL_PATH_NONE;
	}
	slot = slot_of(paths, &frame);
	if (paths->slots[slot])
		return paths->slots[slot];
	if (paths->count >= CALL_PATHS_MAX ||
	    !ARRAY_ROOM(paths->frames, paths->count, paths->capacity)) {
		paths->left_out++;
		return CALL_PATH_NONE;
	}
	paths->slots[slot] = paths->count;
	paths->frames[paths->count] = frame;
	return paths->count++;
}

/* ---- what is asked of it ---- */

const struct call_frame *call_paths_frame(const struct call_paths *paths, uint32_t path)
{
	return path != CALL_PATH_NONE && path < paths->count ? &paths->frames[path] : NULL;
}

const struct call_frame *call_paths_own(const struct call_paths *paths, uint32_t path)
{
	const struct call_frame *innermost = call_paths_frame(paths, path);

	for (const struct call_frame *frame = innermost; frame;
	     frame = call_paths_frame(paths, frame->caller))
		if (frame->line && !path_is_library(frame->file))
			return frame;
	return innermost;
}

void call_paths_words(const struct call_paths *paths, uint32_t path, char *ret_words, size_t size)
{
	const struct call_frame *frame = call_paths_own(paths, path), *caller;

	ret_words[0] = '\0';
	if (!frame)
		return;
	snprintf(ret_words, size, "%s:%d in %s", path_last(frame->file), frame->line,
		 frame->function);
	caller = call_paths_frame(paths, frame->caller);
	if (!caller || !caller->line || path_is_library(caller->file))
		return;
	snprintf(ret_words + strlen(ret_words), size - strlen(ret_words), ", from %s:%d in %s",
		 path_last(caller->file), caller->line, caller->function);
}
