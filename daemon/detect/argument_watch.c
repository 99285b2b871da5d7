/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/detect/argument_watch.h"

#include "attach/tracer.h"
#include "common/clock.h"

/* Each begins with an instruction that is noted alone: two comparisons for three stops. */
#define MEETINGS 3
/* From one meeting to the next: a thread that waits for a processor meets each the later. */
#define WAIT_MAX_NS (100 * NS_PER_MS)
/* Some interpreters read the opcode twice for an instruction: the traps are bounded. */
#define TRAPS_MAX        8
#define ROW_TRAPS_A_CALL 5 / 2
/* Calls that cannot be told, of a row that has not begun. */
#define UNKNOWN_MAX 4
/* The word that has the opcode and its argument. */
#define INSTRUCTION_BYTES 2

void argument_watch_init(struct argument_watch *watch)
{
	*watch = (struct argument_watch){ .slot = ARGUMENT_WATCH_NO_SLOT };
}

bool argument_watch_is_at(const struct argument_watch *watch, unsigned slot)
{
	return watch->slot != ARGUMENT_WATCH_NO_SLOT && slot == (unsigned)watch->slot;
}

remote_addr argument_watch_choose(struct argument_watch *watch, struct argument_sampler *sampler,
				  const struct capture *capture, uint32_t busy)
{
	const struct argument_choice choice = argument_sampler_choose(sampler, capture, busy);
	struct operand_reader *operands = argument_sampler_operands(sampler);
	remote_addr address;

	if (!choice.frame ||
	    (choice.at_entry
		     ? operand_reader_entry(operands, choice.frame, &watch->offset, &address)
		     : operand_reader_instruction(operands, choice.frame, &watch->offset,
						  &address)))
		return 0;
	watch->site = choice.site;
	watch->code = choice.frame->code;
	watch->row_length = choice.row;
	watch->at_entry = choice.at_entry;
	return address;
}

bool argument_watch_arm(struct argument_watch *watch, struct tracee *tracee, int slot,
			remote_addr address, uint64_t now_ns)
{
	if (breakpoint_arm(&tracee->events, (unsigned)slot, BREAKPOINT_READ_WRITE, address,
			   INSTRUCTION_BYTES))
		return false;
	watch->slot = slot;
	watch->met = watch->traps = watch->row_count = 0;
	watch->rip = 0;
	watch->compared = false;
	watch->since_ns = now_ns;
	return true;
}

static int argument_watch_disarm(struct argument_watch *watch, struct argument_sampler *sampler,
				 struct tracee *tracee)
{
	int slot = watch->slot;

	if (slot != ARGUMENT_WATCH_NO_SLOT) {
		breakpoint_disarm(&tracee->events, (unsigned)slot);
		if (watch->row_count > 1)
			argument_sampler_row(sampler, watch->site, watch->row, watch->running_ns,
					     watch->row_count);
	}
	watch->slot = ARGUMENT_WATCH_NO_SLOT;
	return slot;
}

static bool is_over(struct argument_watch *watch, struct argument_sampler *sampler,
		    struct tracee *tracee)
{
	if (watch->met < (watch->row_length ? watch->row_length : MEETINGS) &&
	    watch->traps < (watch->row_length ? watch->row_length * ROW_TRAPS_A_CALL : TRAPS_MAX))
		return false;
	(void)argument_watch_disarm(watch, sampler, tracee);
	return true;
}

/* The contents of a call that begins, or that they cannot be told. */
static void note_call(struct argument_watch *watch, struct argument_sampler *sampler, bool known,
		      struct argument_contents contents, const struct tracee *tracee)
{
	if (known && watch->row_length && watch->row_count < ARGUMENT_ROW_MAX) {
		watch->running_ns[watch->row_count] = thread_events_running_ns(&tracee->events);
		watch->row[watch->row_count++] = contents;
	} else if (known && watch->compared) {
		argument_sampler_compared(sampler, watch->site, contents, watch->contents);
	}
	watch->compared = known;
	watch->contents = contents;
	/* What comes behind one that is not known is no longer in a row with those before. */
	if (watch->row_length && !known && watch->row_count > 1)
		watch->met = watch->row_length;
	else if (watch->row_length && !known) {
		watch->row_count = 0;
		/* Where none can be told, the stops are better spent elsewhere. */
		watch->met += watch->row_length / UNKNOWN_MAX;
	}
}

bool argument_watch_meet(struct argument_watch *watch, struct argument_sampler *sampler,
			 struct tracee *tracee, const struct capture *capture, uint64_t now_ns)
{
	const struct python_frame *frame = &capture->python.frames[0];
	struct argument_contents contents = { 0 };
	bool known = !capture->python_error && capture->python.count && frame->code == watch->code;

	watch->traps++;
	/* A loop comes back to the function's beginning: no call. */
	if (watch->at_entry && known && frame->instruction_offset > watch->offset)
		return is_over(watch, sampler, tracee);
	if (watch->at_entry && known &&
	    !argument_sampler_is_called_from(sampler, capture, watch->site))
		return is_over(watch, sampler, tracee);
	if (!watch->rip)
		watch->rip = capture->registers.rip;
	if (capture->registers.rip != watch->rip)
		return is_over(watch, sampler, tracee);
	watch->met++;
	watch->since_ns = now_ns;
	/* Of other code it cannot be told what ran in between. */
	known = known && (watch->at_entry ? argument_sampler_read_entry(sampler, capture, &contents)
					  : argument_sampler_read_next(sampler, capture,
								       watch->offset, &contents));
	note_call(watch, sampler, known, contents, tracee);
	return is_over(watch, sampler, tracee);
}

int argument_watch_expire(struct argument_watch *watch, struct argument_sampler *sampler,
			  struct tracee *tracee, uint64_t now_ns)
{
	if (watch->slot == ARGUMENT_WATCH_NO_SLOT || now_ns < watch->since_ns + WAIT_MAX_NS)
		return ARGUMENT_WATCH_NO_SLOT;
	return argument_watch_disarm(watch, sampler, tracee);
}
