/* SPDX-License-Identifier: Apache-2.0 */
/* What argument_sampler.c and argument_sampler_calls.c share. */
#ifndef PIEPROFD_DAEMON_DETECT_ARGUMENT_SAMPLER_INTERNAL_H
#define PIEPROFD_DAEMON_DETECT_ARGUMENT_SAMPLER_INTERNAL_H

#include "daemon/capture/target.h"
#include "daemon/contents/fingerprint.h"
#include "daemon/detect/argument_log.h"
#include "daemon/detect/builtin_call.h"
#include "daemon/detect/known_code.h"
#include "daemon/detect/used_attributes.h"

struct outside_states;

struct argument_sampler {
	struct target *target;
	struct operand_reader *operands;
	struct fingerprints *fingerprints;
	struct argument_log log;
	struct known_codes codes;
	struct builtin_calls builtins;
	struct used_attributes *used;
	struct outside_states *outside;
	/* Of this stop. */
	struct argument_sample sample;
	bool taken;
	size_t own[ARGUMENT_FRAMES_MAX]; /* numbers of the frames in the stack */
	size_t own_count;
	bool cut;                          /* there were more */
	size_t wanted[OPERAND_FRAMES_MAX]; /* those and who they called */
	size_t wanted_count;
	struct operand_sample operand_samples[OPERAND_FRAMES_MAX];
	struct operand_sample later_samples[OPERAND_FRAMES_MAX]; /* of the same frames */
	remote_addr objects[FINGERPRINT_OBJECTS_MAX];
	struct used_parameter uses[FINGERPRINT_OBJECTS_MAX]; /* what counts of them */
	/* Of all values that are objects, in order, their places among those. */
	uint8_t places[FINGERPRINT_OBJECTS_MAX];
	size_t value_count;
};

/*
 * The values that an own frame's instruction works on: its operands, or where
 * these are the arguments of a Python function that now runs, that one's.
 */
struct values {
	const struct operand_value *items;
	size_t count;
	const struct python_code *callee; /* whose parameters they are; NULL: operands */
	bool awaited; /* that function is a coroutine, which another instruction called */
};

/* Of all frames' values. call_begins: fingerprints_begin()'s. */
void argument_sampler_read_contents(struct argument_sampler *sampler, const struct values *values,
				    size_t frames, bool call_begins);

/* conn.execute("SELECT ...", (key,)): does the site ask a database for rows? And what queries
 * write is noted. object: of the objects that were read, the first of these values'. */
void argument_sampler_note_query(struct argument_sampler *sampler, struct argument_site *site,
				 const struct values *values, size_t object);

/* Of one of a frame's values. object: of the objects that were read, the next one. */
void argument_sampler_note_value(struct argument_sampler *sampler, struct argument_frame *frame,
				 struct argument_site *site, const struct values *values,
				 size_t index, size_t *object);

#endif
