/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/heap/heap_fill.h"

/* Where words begin: behind a chunk's own size, which its neighbours change, too. */
#define UNIT 16
/* At 5 MB a second so much comes within the 0.1 ms until a breakpoint is there. */
#define LEAD_LEAST 512
/* So far behind that that a block of some size is met anywhere, and no farther: until the heap has
 * grown as far, temporaries write there. */
#define LEADS 256
/* Primes: of any two turns or salts the leads are different. */
#define TURN_STEP 89
#define SALT_STEP 61

void heap_fill_aim(struct heap_fill *fill, remote_addr end, unsigned salt, uint64_t now_ns)
{
	uint64_t lead = (fill->turns * TURN_STEP + salt * SALT_STEP) % LEADS;

	fill->word = (end & ~(remote_addr)(UNIT - 1)) + LEAD_LEAST + lead * UNIT;
	fill->aimed_ns = now_ns;
	fill->writes = 0;
	fill->site = -1;
	fill->turns++;
}

void heap_fill_write(struct heap_fill *fill, int site, uint64_t now_ns)
{
	fill->site = site;
	fill->written_ns = now_ns;
	fill->writes++;
}

bool heap_fill_is_over(const struct heap_fill *fill, uint64_t now_ns)
{
	if (fill->writes >= HEAP_FILL_WRITES_MAX)
		return true;
	if (!fill->writes)
		return now_ns - fill->aimed_ns >= HEAP_FILL_PATIENCE_NS;
	return now_ns - fill->written_ns >= HEAP_FILL_QUIET_NS;
}

void heap_fill_keep(struct heap_fill *fill, const struct memory_reader *reader, uint64_t now_ns)
{
	struct heap_fill_kept kept = { .word = fill->word, .site = fill->site };

	if (!fill->writes || fill->writes >= HEAP_FILL_WRITES_MAX || fill->site < 0 ||
	    heap_fill_is_full(fill) || !heap_fill_is_over(fill, now_ns) ||
	    memory_read_u64(reader, fill->word, &kept.contents))
		return;
	fill->kept[fill->count] = kept;
	/* It is kept once. */
	fill->writes = HEAP_FILL_WRITES_MAX;
	__atomic_store_n(&fill->count, fill->count + 1, __ATOMIC_RELEASE);
}

unsigned heap_fills_ask(struct heap_fills *fills)
{
	unsigned asked = 0;

	for (unsigned i = 0; i < HEAP_FILLS_MAX; i++) {
		const struct heap_fill *fill = &fills->items[i];

		fills->asked_counts[i] = __atomic_load_n(&fill->count, __ATOMIC_ACQUIRE);
		for (unsigned k = 0; k < fills->asked_counts[i]; k++)
			fills->asked[asked++] = fill->kept[k].word;
	}
	return asked;
}

void heap_fills_answer(struct heap_fills *fills, const struct heap_answer *answers)
{
	for (unsigned i = 0; i < HEAP_FILLS_MAX; i++)
		for (unsigned k = 0; k < fills->asked_counts[i]; k++)
			fills->items[i].kept[k].native = answers++->state == HEAP_ANSWER_NATIVE;
}

unsigned heap_fills_kept(const struct heap_fills *fills)
{
	unsigned kept = 0;

	for (unsigned i = 0; i < HEAP_FILLS_MAX; i++)
		kept += fills->items[i].count;
	return kept;
}

static bool has_stayed(const struct heap_fill_kept *kept, const struct memory_reader *reader)
{
	uint64_t contents;

	return kept->native && !memory_read_u64(reader, kept->word, &contents) &&
	       contents == kept->contents;
}

unsigned heap_fills_stayed(const struct heap_fills *fills, const struct memory_reader *reader,
			   int site)
{
	unsigned stayed = 0;

	for (unsigned i = 0; i < HEAP_FILLS_MAX; i++)
		for (unsigned k = 0; k < fills->items[i].count; k++) {
			const struct heap_fill_kept *kept = &fills->items[i].kept[k];

			stayed += (site < 0 || kept->site == site) && has_stayed(kept, reader);
		}
	return stayed;
}
