/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Blocks of malloc()'s that were sampled where they were made, and what has become of them: which
 * lines make those that stay. Pure.
 *
 *   sampled --> seen to be given back, in a window of probes      --> gone
 *           --> no block in use is there, at a look at the memory --> gone
 *           --> still there at the last look                      --> kept, if it is old enough
 *
 * Young ones tell nothing: most of what is needed for a moment is there at any moment. So those
 * count alone that were made in the first two thirds of the time.
 *
 * What is given back while there are no probes, and made again at the same place, looks as if it
 * had stayed. heap_kept_sites() says at what rate blocks seem to stay: where that is far more than
 * the memory grows by, too little was seen to tell.
 */
#ifndef PIEPROFD_DAEMON_HEAP_HEAP_KEPT_H
#define PIEPROFD_DAEMON_HEAP_HEAP_KEPT_H

#include "daemon/heap/heap_site.h"
#include "pyintrospect/heap/heap_answer.h"

#define HEAP_KEPT_BLOCKS_MAX 12288
#define HEAP_KEPT_SITES_MAX  256
#define HEAP_KEPT_LOOKS_MAX  64

/* Sampled blocks, and the bytes that they stand for. */
struct heap_kept_sum {
	unsigned blocks;
	uint64_t bytes;
};

struct heap_kept_site {
	struct heap_site site;                   /* the callers are those of the first sample */
	struct heap_kept_sum made, kept, native; /* old ones; still there; held by no object */
};

struct heap_kept_block {
	uint32_t number;
	uint16_t site;
	uint16_t looks; /* that were over when it was made */
	uint8_t state;  /* enum heap_answer_state */
	bool marked;
	remote_addr address;
	uint64_t bytes, stands_for;
};

/* All zeros is an empty one. */
struct heap_kept {
	struct heap_kept_block blocks[HEAP_KEPT_BLOCKS_MAX];
	size_t block_count;
	uint32_t by_number[2 * HEAP_KEPT_BLOCKS_MAX]; /* block + 1 */
	struct heap_kept_site sites[HEAP_KEPT_SITES_MAX];
	size_t site_count;
	uint64_t beyond_blocks, beyond_sites; /* samples for which there was no room */
	uint64_t without_python;              /* samples of threads that ran no Python code */
	/* Of each look. */
	struct heap_kept_look {
		uint64_t time_ns;
		uint64_t observed_ns; /* of the process's time, what was probed until then */
	} looks[HEAP_KEPT_LOOKS_MAX];
	size_t look_count;
	remote_addr asked[HEAP_KEPT_BLOCKS_MAX];
	uint32_t asked_blocks[HEAP_KEPT_BLOCKS_MAX];
	size_t asked_count;
};

/* A sample: stack NULL: no Python code ran. False: there is no room for more. */
bool heap_kept_note(struct heap_kept *kept, uint32_t number, uint64_t bytes, uint64_t stands_for,
		    const struct python_stack *stack);

/*
 * Before a look: mark() what was not seen to be given back, and ask() what is there. Blocks that
 * are not marked are gone.
 */
void heap_kept_mark(struct heap_kept *kept, remote_addr address, uint32_t number);
void heap_kept_ask(struct heap_kept *kept);
/* Behind it: answers to asked, in that order. */
void heap_kept_answer(struct heap_kept *kept, const struct heap_answer *answers, uint64_t time_ns,
		      uint64_t observed_ns);

/* Why no line is named. */
enum heap_kept_doubt {
	HEAP_KEPT_CERTAIN,
	HEAP_KEPT_NO_LOOKS, /* too few, or too soon */
	HEAP_KEPT_NOTHING,  /* hardly anything that was sampled has stayed */
	HEAP_KEPT_UNSEEN,   /* far more seems to stay than the memory grows by */
};

struct heap_kept_result {
	enum heap_kept_doubt doubt;
	/* That are worth a name, most first. */
	const struct heap_kept_site *sites[HEAP_KEPT_SITES_MAX];
	size_t site_count;
	struct heap_kept_sum made, kept, native;
	uint64_t observed_ns; /* in which those were made */
	uint64_t age_ns;      /* that they have at least */
};

/* What is in question: all that stays, or what no object holds. */
static inline struct heap_kept_sum heap_kept_stays(const struct heap_kept_site *site, bool native)
{
	return native ? site->native : site->kept;
}

/* began_ns: when probes began, of the looks' clock. bytes_per_s: by which it grows. */
void heap_kept_sites(struct heap_kept *kept, uint64_t began_ns, bool native, double bytes_per_s,
		     struct heap_kept_result *ret_result);

#endif
