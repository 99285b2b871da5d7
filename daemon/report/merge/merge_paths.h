/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Strings, frames and paths of several profiles, each once. A string's address
 * stands for it, and stays.
 */
#ifndef PIEPROFD_DAEMON_REPORT_MERGE_MERGE_PATHS_H
#define PIEPROFD_DAEMON_REPORT_MERGE_MERGE_PATHS_H

#include "daemon/report/encode/string_table.h"
#include "daemon/report/model/profile.h"

struct merge_frames { /* all zeros: empty */
	struct string_table strings;
	struct profile_frame *frames;
	size_t count, capacity;
	struct id_table ids;
};

void merge_frames_deinit(struct merge_frames *frames);

/* NULL for NULL. 0 or -ENOMEM. */
__attribute__((warn_unused_result)) int merge_string(struct merge_frames *frames, const char *text,
						     const char **ret_text);

/* The frame with strings of its own. 0 or -ENOMEM. */
__attribute__((warn_unused_result)) int merge_frame_copy(struct merge_frames *frames,
							 const struct profile_frame *frame,
							 struct profile_frame *ret_frame);

/* Its index; all fields tell frames apart, but strings only by what they say. 0 or -ENOMEM. */
__attribute__((warn_unused_result)) int merge_frame_find(struct merge_frames *frames,
							 const struct profile_frame *frame,
							 uint32_t *ret_frame);

/*
 * What a reader tells frames apart by (place.h): instructions, and addresses
 * of functions with a name, do not count.
 */
struct profile_frame merge_frame_place(const struct profile_frame *frame);

/* By kind, function, file, line, address, then what a reader does not see. */
int merge_frame_compare(const struct profile_frame *a, const struct profile_frame *b);

struct merge_path {
	uint32_t parent; /* 0: outermost */
	uint32_t frame;
	uint32_t depth; /* 1: outermost */
};

struct merge_paths {
	struct merge_path *paths; /* the first is the empty path */
	size_t count, capacity, limit;
	struct id_table ids;
};

__attribute__((warn_unused_result)) int merge_paths_init(struct merge_paths *paths, size_t limit);
void merge_paths_deinit(struct merge_paths *paths);

/* 0, -ENOSPC or -ENOMEM. */
__attribute__((warn_unused_result)) int merge_path_find(struct merge_paths *paths, uint32_t parent,
							uint32_t frame, uint32_t *ret_path);

/* From the innermost frames outwards: 0 only for the same path. */
int merge_path_compare(const struct merge_paths *paths, const struct merge_frames *frames,
		       uint32_t a, uint32_t b);

#endif
