/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the compared arguments of a line's calls say of the time that it could
 * save. Sums alone, so that profiles of several processes can be added up. Pure.
 *
 * Each sample that a rule speaks for is time saved but for what has to be done
 * once. How sure that is
 * differs by kind, and the interval says so: work that is repeated to the letter
 * saves nearly all of its time, while a vectorised loop still has its elements
 * to work on, and a better algorithm may be any amount faster.
 */
#ifndef PIEPROFD_DAEMON_REPORT_MODEL_ARGUMENT_EVIDENCE_H
#define PIEPROFD_DAEMON_REPORT_MODEL_ARGUMENT_EVIDENCE_H

#include "daemon/detect/argument_facts.h"
#include "daemon/report/model/category.h"

#include <stdbool.h>
#include <stdint.h>

struct argument_evidence {
	uint64_t samples[ARGUMENT_VERDICT_COUNT];
	uint64_t time_ns[ARGUMENT_VERDICT_COUNT];
	uint64_t saved_ns, saved_low_ns, saved_high_ns;
};

struct saved_time {
	uint64_t time_ns;
	uint64_t low_ns, high_ns; /* of the samples' chance and the model's error */
};

/* One more sample. part: of its time, what is not needed (argument_summary_part()). */
void argument_evidence_add(struct argument_evidence *evidence, enum argument_verdict verdict,
			   uint64_t time_ns, struct saved_part part);

/* The kind with most time; ARGUMENT_NEEDED: what was compared differs, so that its work is
 * needed; ARGUMENT_UNKNOWN: too little to tell. charged_ns: all time of the line. */
enum argument_verdict argument_evidence_verdict(const struct argument_evidence *evidence,
						uint64_t charged_ns);

/*
 * Of a line with a verdict above ARGUMENT_NEEDED: what it could save, limit_ns at
 * most, with the interval of sampling and of the model. run_ns: the time of all
 * lines; period_ns: that one sample stands for.
 */
void argument_evidence_saving(const struct argument_evidence *evidence, uint64_t limit_ns,
			      uint64_t run_ns, uint64_t period_ns, struct saved_time *ret_saved);

/* "unknown", "needed", "invariant" ..., as JSON has it. */
const char *argument_verdict_name(enum argument_verdict verdict);
enum category argument_verdict_category(enum argument_verdict verdict);

#endif
