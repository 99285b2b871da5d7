/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What looks have in common: figures of each look in a row, for all of the memory, by type, by
 * path and by container. Of a look that was added nothing else is kept, so that memory is bounded,
 * however long it takes and whatever the process has.
 *
 *   look        0      1      2    ...           at most HEAP_GROWTH_LOOKS_MAX; when there is no
 *   time        0 s    3 s    6 s                room, every second one is dropped
 *   all        RSS ... RSS ... RSS
 *   app.cache  120     160    210     bytes that are reached from there, objects right there
 *
 * A type is known again by its address and name, a path by its steps and their types, a container
 * by its address and type.
 */
#ifndef PIEPROFD_DAEMON_HEAP_HEAP_GROWTH_H
#define PIEPROFD_DAEMON_HEAP_HEAP_GROWTH_H

#include "daemon/heap/heap_look.h"

#define HEAP_GROWTH_LOOKS_MAX      48
#define HEAP_GROWTH_TYPES_MAX      4096
#define HEAP_GROWTH_SIZES_MAX      1024
#define HEAP_GROWTH_PATHS_MAX      8192
#define HEAP_GROWTH_CONTAINERS_MAX 16384

/* Of one look. */
enum heap_figure {
	HEAP_FIGURE_RSS,
	HEAP_FIGURE_HELD, /* objects that a root leads to, and memory of malloc's that they use */
	HEAP_FIGURE_GARBAGE, /* objects that no root leads to, with all that they lead to */
	HEAP_FIGURE_NATIVE,  /* of malloc's, held by nobody known, and anonymous of no kind known */
	HEAP_FIGURE_FREE,    /* in pools and for malloc */
	HEAP_FIGURES
};

struct heap_row {
	uint64_t key;
	uint64_t seen; /* by look: it was there */
	uint32_t last; /* in the last look that was added: number of the type, path or container */
	uint64_t counts[HEAP_GROWTH_LOOKS_MAX]; /* objects, or a container's length */
	uint64_t bytes[HEAP_GROWTH_LOOKS_MAX];  /* with storage; of a path, all that it leads to */
};

struct heap_table {
	struct heap_row *rows;
	size_t count, limit;
	uint32_t *by_key;  /* row + 1 */
	uint64_t left_out; /* of the last look: that found no room */
};

struct heap_growth {
	size_t looks;
	uint64_t times_ns[HEAP_GROWTH_LOOKS_MAX];
	uint64_t figures[HEAP_FIGURES][HEAP_GROWTH_LOOKS_MAX];
	struct heap_table types, sizes, paths, containers;
	uint64_t *path_keys; /* of the last look, by path */
	size_t path_count;
	uint64_t taken;               /* looks, with those that were dropped */
	uint64_t torn;                /* left out by whoever adds them: heap_growth_tear() */
	uint64_t cpu_ns, copy_cpu_ns; /* CPU time of all of them, and what was for copying */
};

/* How a row of figures goes. */
struct heap_trend {
	uint64_t first, last;
	double per_s; /* from the first to the last */
	int64_t gain; /* of the middle one in the last third over that in the first */
	double fall;  /* down, on average of all steps */
	unsigned steps, rises, falls;
	unsigned still;     /* steps without a change at the end */
	double early, late; /* rates in the first and the last third of the time */
	double middle;      /* between them */
};

/* Of a look alone. */
void heap_growth_figures(const struct heap_look *look, uint64_t figures[HEAP_FIGURES]);

/* 0 or -ENOMEM; deinit it in any case. */
__attribute__((warn_unused_result)) int heap_growth_init(struct heap_growth *growth);
void heap_growth_deinit(struct heap_growth *growth);

/*
 * Has a good part of what was held come loose in this look, or had it in the one before? The
 * process goes on while it is copied: where a list moves its items, or a chain gets a new first
 * link, what hangs there is reached by no root for once. What is true of the process as well, as it
 * dropped something in circles, stays so.
 */
enum heap_tear {
	HEAP_TEAR_NONE,
	HEAP_TEAR_THIS,
	HEAP_TEAR_BEFORE,
};
enum heap_tear heap_growth_tear(const struct heap_growth *growth, const struct heap_look *look);

/* Forgets all looks; what is counted of them is kept. */
void heap_growth_restart(struct heap_growth *growth);

/* look is borrowed for the call. 0 or -ENOMEM, then nothing has changed. */
__attribute__((warn_unused_result)) int heap_growth_add(struct heap_growth *growth,
							const struct heap_look *look);

/* What has happened between the first look and the last. */
uint64_t heap_growth_elapsed_ns(const struct heap_growth *growth);

/* Of all looks. */
struct heap_trend heap_growth_trend(const struct heap_growth *growth,
				    const uint64_t values[HEAP_GROWTH_LOOKS_MAX]);

/* Since a container was seen first. */
struct heap_trend heap_growth_container_trend(const struct heap_growth *growth,
					      const struct heap_row *row);

/* Of a type, or of a path's number in the last look; NULL: it found no room. */
const struct heap_row *heap_growth_type(const struct heap_growth *growth,
					const struct heap_type_count *type);
/* Of a type's objects in blocks of one size; likewise. */
const struct heap_row *heap_growth_size(const struct heap_growth *growth,
					const struct heap_size_count *size);
const struct heap_row *heap_growth_path(const struct heap_growth *growth, uint32_t path);

#endif
