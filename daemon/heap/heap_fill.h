/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who fills the memory by which one of glibc's heaps grows: words right behind its end, each with
 * the last line that wrote there before nobody did for a while.
 *
 *   aimed at --- written, by a line --- written, by another --- 200 ms of quiet: kept, with that
 * line |                                      `--- again and again: given up, it is a temporary's
 *       `--- nobody comes: given up
 *
 * What is allocated at the end is no answer: temporaries are, too, and what leaks takes their place
 * when they have gone. Of what was kept a look has to say, later on, that it is in use and held by
 * no object, and the same has to be written there in the end.
 */
#ifndef PIEPROFD_DAEMON_HEAP_HEAP_FILL_H
#define PIEPROFD_DAEMON_HEAP_HEAP_FILL_H

#include "common/clock.h"
#include "pyintrospect/heap/heap_answer.h"

#include <stdbool.h>

#define HEAP_FILLS_MAX        4
#define HEAP_FILL_KEPT_MAX    10
#define HEAP_FILL_WRITES_MAX  12
#define HEAP_FILL_QUIET_NS    (200 * NS_PER_MS)
#define HEAP_FILL_PATIENCE_NS NS_PER_SECOND

struct heap_fill_kept {
	remote_addr word;
	uint64_t contents;
	int site; /* the caller's */
	bool native;
};

struct heap_fill {
	remote_addr word;
	uint64_t aimed_ns, written_ns;
	unsigned writes;
	unsigned turns; /* words that were aimed at */
	int site;       /* of the last write; -1: not known */
	struct heap_fill_kept kept[HEAP_FILL_KEPT_MAX];
	unsigned count; /* across threads */
};

/* Several at a time. All zeros is an empty one. */
struct heap_fills {
	struct heap_fill items[HEAP_FILLS_MAX];
	/* What was asked for last. */
	remote_addr asked[HEAP_FILLS_MAX * HEAP_FILL_KEPT_MAX];
	unsigned asked_counts[HEAP_FILLS_MAX];
};

/* Another word behind an end: not right behind it, as it moves before a breakpoint is there. salt:
 * not the same ones as others'. */
void heap_fill_aim(struct heap_fill *fill, remote_addr end, unsigned salt, uint64_t now_ns);

/* Would the next write be one too many to go on? */
static inline bool heap_fill_is_last(const struct heap_fill *fill)
{
	return fill->writes + 1 >= HEAP_FILL_WRITES_MAX;
}

/* Someone wrote there. */
void heap_fill_write(struct heap_fill *fill, int site, uint64_t now_ns);

/* Is it time for another word? heap_fill_keep() first. */
bool heap_fill_is_over(const struct heap_fill *fill, uint64_t now_ns);
/* If the word was written, and is left alone by now. */
void heap_fill_keep(struct heap_fill *fill, const struct memory_reader *reader, uint64_t now_ns);

static inline bool heap_fill_is_full(const struct heap_fill *fill)
{
	return fill->count == HEAP_FILL_KEPT_MAX;
}

/* By another thread: how many words of `asked` a look is to be asked for, and what it said of them.
 */
unsigned heap_fills_ask(struct heap_fills *fills);
void heap_fills_answer(struct heap_fills *fills, const struct heap_answer *answers);

/* At the end. All that were kept; of these, of a site or of all (-1), those that are in use, held
 * by nobody, and as they were. */
unsigned heap_fills_kept(const struct heap_fills *fills);
unsigned heap_fills_stayed(const struct heap_fills *fills, const struct memory_reader *reader,
			   int site);

#endif
