/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What time samples saw of the arguments of the calls they fell into: for each
 * sample the program's own frames, innermost first, each with a number for the
 * contents of what its instruction works on, and with the rounds of the loops
 * around it. The evidence for what is done again with the same arguments
 * (argument_rule.h); raw, so that rules can be asked when a report is made. `top`
 * and windows of `serve` have none.
 *
 *   sites    (code, offset) -> the operands as last seen
 *   samples  a uniform choice of at most ARGUMENT_SAMPLES_MAX of all
 */
#ifndef PIEPROFD_DAEMON_DETECT_ARGUMENT_LOG_H
#define PIEPROFD_DAEMON_DETECT_ARGUMENT_LOG_H

#include "daemon/cct/id_table.h"
#include "daemon/contents/fingerprint.h"
#include "daemon/detect/database_query.h"
#include "pyintrospect/operand_reader.h"

#define ARGUMENT_SAMPLES_MAX  (1u << 14)
#define ARGUMENT_SITES_MAX    (1u << 13)
#define ARGUMENT_FRAMES_MAX   3 /* own frames of a sample */
#define ARGUMENT_OPERANDS_MAX 8 /* of an instruction that are told apart */

/* Calls in a row that are compared with one another: usually, and of what did not come back yet. */
#define ARGUMENT_ROW     16
#define ARGUMENT_ROW_MAX 48

/* Offset of a site that is not an instruction: the calls of a function, from wherever. */
#define ARGUMENT_ENTRY (-1)

/* What an operand of a site was, when last seen. */
struct argument_operand {
	uint8_t role;   /* enum operand_role */
	uint8_t kind;   /* enum content_kind */
	bool whole;     /* all of it was compared */
	bool frame;     /* pandas' data */
	bool spread;    /* or parts all over it (contents/content_kind.h) */
	bool callable;  /* what is called, not what it works on */
	bool hashable;  /* could be a key of a cache */
	bool keyed;     /* an object, of which the called function reads attributes that could be */
	bool zero;      /* the number */
	bool of_arrays; /* a list or tuple, with an array among its first items */
	bool part;      /* an array that is part of another one */
	bool doubted;   /* the last sample had another kind of object there */
	uint64_t size;  /* as of fingerprint */
	char shape[FINGERPRINT_SHAPE];
};

/* The object that an operand was in the sample before, and its contents. */
struct argument_last {
	remote_addr object;
	uint64_t content;
};

struct argument_site {
	const struct python_code *code;
	int offset;
	uint8_t kind; /* enum operation_kind */
	bool in_place;
	bool of_callee;   /* the operands are what a Python function was called with */
	bool of_library;  /* and that function is a library's */
	bool of_part;     /* and does not read all of what it is given */
	bool runs_frame;  /* a Python function is its call, by no way of C (3.11+) */
	bool runs_python; /* a Python function runs in it, maybe called by way of C */
	bool awaits;      /* that function is a coroutine, which another instruction called */
	bool foreign;     /* argument_is_foreign(), in some sample */
	bool keeps;       /* what it calls keeps its results itself */
	bool asks;        /* what it calls depends on more than what it is given, in some sample */
	bool queries;     /* it asks a database for rows, by what its receiver is given: */
	struct database_query query;
	bool appends; /* it puts something at the end of a list or buffer */
	bool counted; /* the loop around it goes over numbers in a row: range(), enumerate() */
	size_t operand_count;
	struct argument_operand operands[ARGUMENT_OPERANDS_MAX];
	uint8_t slow; /* slow_call.h's number of what it calls */
	/* Samples whose operands were read, and those of them that had it slow (argument_meets.h).
	 */
	uint32_t slow_read, slow_met;
	bool makes_row; /* slow_call_makes_row() was seen in it */
	/* Samples whose operands were read, and those of them that had single numbers alone. */
	uint32_t read, on_numbers;
	uint64_t samples; /* that fell into it, contents read or not */
	/* By argument_watch.h: calls compared with the ones before them, and the same as those. */
	uint32_t compared, repeated;
	/* Of those compared, with more items than the one before, and with fewer. */
	uint32_t grown, shrunk;
	uint32_t kept;       /* and with others than it, but for most of a list's items */
	uint32_t first_kept; /* of those compared, that were given the same first */
	uint32_t shifted; /* of those compared, on mostly the same part of an array, moved a little
			   */
	uint64_t most_items; /* of those compared: a list that is being sorted shows none */
	uint32_t at_most;    /* of those compared, with so many, as the one before */
	uint32_t watched;    /* times that this was tried */
	/* Of many calls in a row, pairs of any two: all, those with the same contents, and watches
	 * with one of these. */
	uint32_t row_pairs, row_alike, row_recurring;
	/* Of these pairs, those half a row or further apart, and of them those with the same. */
	uint32_t row_far_pairs, row_far_alike;
	/* Calls of rows, and those of them with the contents of an earlier one of their row. */
	uint32_t row_calls, row_hits;
	/* CPU time from one call of a row to the next: each row's middle one, added up. */
	uint64_t row_gaps_ns;
	uint32_t row_gaps;
	/* Of these pairs, those of the same objects: with the same contents, and with others. */
	uint32_t row_held, row_changed;
	uint32_t rows; /* times that so many were watched */
	/* Operands beside the sample before, by who may hold them: no keys of a cache, that were
	 * the same object, and that one with other contents; keys, that were others. */
	struct argument_last last[ARGUMENT_OPERANDS_MAX];
	uint32_t held_met, held_again, held_changed, keys_changed;
	bool comparable; /* it was seen with data among its operands */
	/* Of an entry: the site seen last that called it, + 1, and whether others did, too. */
	uint32_t caller;
	bool several_callers;
};

enum argument_flag {
	ARGUMENT_JUDGED = 1,    /* the operands were read; the numbers below mean something */
	ARGUMENT_DATA = 2,      /* one of them has contents that were compared */
	ARGUMENT_OPAQUE = 4,    /* one of them is known by identity alone */
	ARGUMENT_PARTIAL = 8,   /* one is larger than what was compared of it */
	ARGUMENT_STATE = 16,    /* an opaque one that is not just an iterator, made for the call */
	ARGUMENT_IN_SLOW = 32,  /* the site's slow call runs */
	ARGUMENT_ITERATOR = 64, /* one is an iterator: it can be compared where the call begins */
	ARGUMENT_DIRECT = 128,  /* no Python function runs that it has called */
	ARGUMENT_APART = 256,   /* a library's frames are between this one and the next */
};

struct argument_frame {
	uint32_t site;
	uint16_t flags; /* enum argument_flag */
	uint8_t loop_count;
	uint8_t operand_count;
	uint64_t largest; /* items or bytes of the largest operand that is a sequence */
	uint64_t sketch;  /* of that one, and where it begins (contents/content_kind.h) */
	remote_addr part;
	uint64_t contents;                        /* of all operands */
	uint64_t objects;                         /* which objects they are */
	uint32_t operands[ARGUMENT_OPERANDS_MAX]; /* contents of each */
	/* Of the loops around, innermost first: equal in one round of this one and all further out.
	 */
	uint32_t rounds[OPERAND_LOOPS_MAX];
	int64_t remaining[OPERAND_LOOPS_MAX]; /* elements to come, or ITERATOR_UNKNOWN */
	uint32_t container; /* which object the innermost loop goes over; 0: not known */
};

struct argument_sample {
	uint64_t event_ns; /* when */
	uint64_t time_ns;  /* what it stands for */
	uint32_t node;     /* of the calling context tree */
	uint8_t frame_count;
	bool cut;      /* own frames further out are not here */
	bool timeless; /* no choice by time: it tells of arguments, not of how long they are worked
			  on */
	struct argument_frame frames[ARGUMENT_FRAMES_MAX]; /* innermost own frame first */
};

struct argument_log {
	/* Tells the names that code before 3.11 has instead of columns; borrowed. NULL: no names.
	 */
	const struct python_runtime *runtime;
	struct argument_site *sites;
	size_t site_count, site_capacity;
	struct id_table site_ids;
	struct argument_sample *samples;
	size_t sample_count, sample_capacity;
	struct database_written written; /* by queries, while sites were noted */
	uint64_t seen;                   /* samples offered */
	uint64_t seen_ns;                /* and the time of all of them */
	uint64_t random;
};

void argument_log_init(struct argument_log *log);
void argument_log_deinit(struct argument_log *log);

/* The site, new if need be; borrowed until the next one. NULL: no memory, or too many. */
struct argument_site *argument_log_site(struct argument_log *log, const struct python_code *code,
					int offset, uint32_t *ret_id);

/* Its number; ID_NONE: there is none. */
uint32_t argument_log_find(const struct argument_log *log, const struct python_code *code,
			   int offset);

/* 0 or -ENOMEM. */
int argument_log_add(struct argument_log *log, const struct argument_sample *sample);

#endif
