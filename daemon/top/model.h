/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What `top` shows, without a terminal: the newest snapshot, compared with an
 * earlier one, as sorted rows of one view, and what the keys have chosen.
 *
 *   snapshot --> history (ring)
 *       |            |
 *       `-- minus -- + baseline (reset) --> rows, sorted --> layout.h
 */
#ifndef PIEPROFD_DAEMON_TOP_MODEL_H
#define PIEPROFD_DAEMON_TOP_MODEL_H

#include "daemon/top/history.h"
#include "daemon/top/holders.h"

#include <stdbool.h>

#define TOP_WINDOW_NS 10000000000ull /* the recent window */

enum top_sort {
	TOP_BY_SELF,
	TOP_BY_TOTAL,
	TOP_BY_REDUNDANT, /* how many redundant accesses were seen */
	TOP_BY_AVOIDABLE,
	TOP_BY_FRESH, /* pages that were touched first: with --memory */
	TOP_SORT_COUNT
};

enum top_key {
	TOP_KEY_NONE,
	TOP_KEY_QUIT,
	TOP_KEY_SORT,
	TOP_KEY_LINES, /* the views follow in their order */
	TOP_KEY_FUNCTIONS,
	TOP_KEY_THREADS,
	TOP_KEY_PAIRS,
	TOP_KEY_NEXT_VIEW,
	TOP_KEY_UP,
	TOP_KEY_DOWN,
	TOP_KEY_PAGE_UP,
	TOP_KEY_PAGE_DOWN,
	TOP_KEY_HOME,
	TOP_KEY_END,
	TOP_KEY_PAUSE,
	TOP_KEY_WINDOW,
	TOP_KEY_RESET,
	TOP_KEY_HELP,
	TOP_KEY_REDRAW,
	TOP_KEY_OWN,
	TOP_KEY_MEMORY, /* the lines that make resident memory grow, or back */
	TOP_KEY_FILTER, /* begins one; what follows is typed */
	TOP_KEY_CHARACTER,
	TOP_KEY_BACKSPACE,
	TOP_KEY_ENTER,
	TOP_KEY_ESCAPE,
};

#define TOP_FILTER_BYTES 48

struct top_row {
	uint64_t key;
	size_t index; /* in the profile's array of this view */
	struct top_figures figures;
	uint64_t avoidable_ns; /* estimated from the whole run, scaled to the window's time */
};

struct top_model {
	enum top_view view;
	enum top_sort sorts[TOP_VIEW_COUNT];
	bool whole_run;
	bool paused;
	bool help;
	bool own_only;                 /* lines and functions of the program itself */
	bool typing;                   /* of the filter */
	char filter[TOP_FILTER_BYTES]; /* rows with this in their names or source; "": all */
	bool touched;                  /* a row, view or order was chosen */
	uint64_t verdict_key;          /* of the verdict's line, until then selected; 0: none */
	const char *notice;            /* a sentence for the last line; NULL: none. Borrowed */
	/* What grows in memory, at now_ns; NULL: it is not looked at. Borrowed. */
	const struct top_growth *growth;
	uint64_t now_ns;
	/* What is shown, borrowed; NULL: nothing yet. */
	const struct profile *profile;
	struct top_totals totals; /* of the window */
	struct top_row *rows;
	size_t row_count, row_capacity;
	size_t selected;       /* row */
	uint64_t selected_key; /* follows its row, but for the first: that stays the first */
	size_t first;          /* row shown at the top */
	size_t page;           /* rows on the screen, set by who lays them out */
	struct top_history history;
	struct top_past baseline; /* of the last reset */
	/* Source lines; NULL: those of the profile alone. */
	const char *(*source)(void *context, const char *file, int line);
	void *source_context;
};

void top_model_init(struct top_model *model);
void top_model_deinit(struct top_model *model);

/* Shows profile from now on, until the next one. Not to be called while paused. 0 or -ENOMEM. */
__attribute__((warn_unused_result)) int top_model_update(struct top_model *model,
							 const struct profile *profile);

/* character: that of TOP_KEY_CHARACTER, a byte. false: quit. */
bool top_model_key(struct top_model *model, enum top_key key, char character);

/* Keeps the selected row in sight, on a page of so many rows. */
void top_model_scroll(struct top_model *model, size_t page);

/* Of a Python line; NULL: cannot be read. */
const char *top_model_source(const struct top_model *model, const char *file, int line,
			     const char *known);

#endif
