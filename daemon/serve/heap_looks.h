/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Looks at the heaps of the processes that are sampled, for requests: one at a time, and so seldom
 * that all of them together take a tenth of a processor. A look takes about as much memory as the
 * process has, within a limit, behind which types alone are counted; it is given back behind it.
 *
 * The thread that answers looks: it may read processes, and no more (confinement.h). It gives up
 * when its client has gone, when the server ends, and after HEAP_LOOKS_NS_MAX.
 */
#ifndef PIEPROFD_DAEMON_SERVE_HEAP_LOOKS_H
#define PIEPROFD_DAEMON_SERVE_HEAP_LOOKS_H

#include "common/clock.h"
#include "daemon/serve/sampler.h"
#include "pyintrospect/heap/heap_regions.h"

#include <stdio.h>

struct impersonator;

/* What a look may take where nothing else is asked for: less where the machine has less to give. */
#define HEAP_LOOKS_MEMORY_MAX (512ull << 20)
/* All processes of one request together. */
#define HEAP_LOOKS_NS_MAX (60 * NS_PER_SECOND)
/* Behind a look, nine times its own time, and at least so long. */
#define HEAP_LOOKS_PAUSE_NS NS_PER_SECOND
#define HEAP_LOOKS_PAUSE    9

struct heap_looks;

/* memory_bytes: 0: as much as seems right. impersonator: borrowed. NULL: out of memory. */
struct heap_looks *heap_looks_create(uint64_t memory_bytes, struct impersonator *impersonator);
/* When nobody looks. */
void heap_looks_destroy(struct heap_looks *looks);
/* A look that is under way gives up, and none begins any more. */
void heap_looks_refuse(struct heap_looks *looks);

struct heap_asker {
	bool (*gone)(void *context); /* whether the client has */
	void *context;
};

struct heap_refusal {
	unsigned status;  /* of HTTP; 0: nobody is there to hear it */
	unsigned retry_s; /* 0: not worth it */
	char words[1024];
};

/* Looks at all of them; pprof's format (heap_pprof.h). 0, or -1 with *refusal filled. */
__attribute__((warn_unused_result)) int heap_looks_write(struct heap_looks *looks,
							 struct sampler *sampler,
							 const struct heap_asker *asker, FILE *file,
							 struct heap_refusal *refusal);

struct heap_looks_counters {
	uint64_t done, failed, refused; /* requests */
	/* Of the last that was done; 0: none was. */
	uint64_t done_ns; /* when */
	uint64_t duration_ns;
	size_t processes;
	struct heap_regions regions; /* of all of them */
};

struct heap_looks_counters heap_looks_count(struct heap_looks *looks);

#endif
