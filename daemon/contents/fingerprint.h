/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a few of the target's objects contain, as a number each: equal contents
 * have equal numbers, wherever they lie. Pure: it asks for memory in rounds and
 * is given bytes.
 *
 *   fingerprints_begin()
 *   while ((count = fingerprints_round(set, &ranges)))
 *           memory_read_ranges(reader, ranges, count)
 *   fingerprints_get()
 *
 * Numbers, strings, bytes, dates, slices and ranges are taken whole or in pieces
 * spread over them, as are arrays of numpy, pyarrow and torch; of tuples, lists,
 * dicts, sets and deques the first items and some of the others, to a depth; of
 * instances of a program's classes, and of pandas' frames, their attributes.
 * Everything else goes by type and identity.
 *
 * A type is learned when it is first met, with its bases, which takes rounds: the
 * first objects of a new class may be opaque.
 */
#ifndef PIEPROFD_DAEMON_CONTENTS_FINGERPRINT_H
#define PIEPROFD_DAEMON_CONTENTS_FINGERPRINT_H

#include "daemon/contents/content_kind.h"

struct fingerprints;

/* NULL: no memory. Keeps types that it has met; one for each target. */
struct fingerprints *fingerprints_create(int minor);
void fingerprints_destroy(struct fingerprints *set);

/*
 * Of at most FINGERPRINT_OBJECTS_MAX objects; what was asked for before is forgotten.
 * Iterators and generators are told by what they go over where a call is about to
 * begin; in the middle of one they have gone on, and their identity is all there is.
 */
void fingerprints_begin(struct fingerprints *set, const remote_addr *objects, size_t count,
			bool call_begins);

/*
 * After fingerprints_begin(): of the object at index, these attributes alone count, by the
 * addresses of their names or as fingerprint_slot() says. The names are borrowed until the numbers
 * are asked for. If it has not all of them that are no slots in its dict, all of that count.
 */
void fingerprints_only(struct fingerprints *set, size_t index, const remote_addr *names,
		       size_t count);

/* For fingerprints_only(): the slot that lies so many bytes into the object. */
bool fingerprint_slot_exists(uint64_t offset);
remote_addr fingerprint_slot(uint64_t offset);

/* What is to be read next, errors to be set; 0: no more. A bounded number of times. */
size_t fingerprints_round(struct fingerprints *set, struct memory_range **ret_ranges);

/* When there is no more. */
struct fingerprint fingerprints_get(const struct fingerprints *set, size_t index);

#endif
