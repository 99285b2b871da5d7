/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Everything here runs innermost first, as both inputs are ordered; the result
 * is turned round at the very end.
 */
#include "daemon/cct/stitch.h"

#define NO_PARTNER SIZE_MAX

struct group {
	size_t first; /* innermost frame in python_stack.frames */
	size_t end;   /* behind the entry frame */
	remote_addr anchor;
	size_t eval;     /* native frame it belongs to, or NO_PARTNER */
	size_t position; /* native frames before this index are inside of the group */
};

struct stitching {
	const struct native_frame *native;
	size_t native_count;
	enum unwind_end end;
	const struct python_stack *python;
	const struct address_ranges *eval;
	struct group groups[PYTHON_STACK_FRAMES_MAX];
	size_t group_count;
	uint32_t flags;
	/* the result, innermost first */
	struct frame *frames;
	size_t maximum, count;
};

static bool is_eval(const struct stitching *stitching, size_t index)
{
	const struct native_frame *frame = &stitching->native[index];

	return address_ranges_contain(stitching->eval,
				      native_frame_lookup_address(frame, index == 0));
}

/* End of the frame's stack area, 0 when unknown: the outermost frame has no cfa. */
static remote_addr frame_end(const struct stitching *stitching, size_t index)
{
	if (stitching->native[index].cfa)
		return stitching->native[index].cfa;
	return index + 1 < stitching->native_count ? stitching->native[index + 1].sp : 0;
}

static bool frame_holds(const struct stitching *stitching, size_t index, remote_addr address)
{
	return address >= stitching->native[index].sp && address < frame_end(stitching, index);
}

static void split_groups(struct stitching *stitching)
{
	const struct python_stack *python = stitching->python;
	size_t count =
		python->count < PYTHON_STACK_FRAMES_MAX ? python->count : PYTHON_STACK_FRAMES_MAX;
	size_t first = 0;

	for (size_t i = 0; i < count; i++) {
		/* A stack that was cut off ends inside a group: its entry frame is not known. */
		if (!python->frames[i].entry && i + 1 < count)
			continue;
		stitching->groups[stitching->group_count++] = (struct group){
			.first = first,
			.end = i + 1,
			.anchor = python->frames[i].entry ? python->frames[i].anchor : 0,
			.eval = NO_PARTNER,
		};
		first = i + 1;
	}
}

/* Anchors outside of the order that the stack must have (hostile or torn) find nothing. */
static void match_anchors(struct stitching *stitching)
{
	size_t next = 0;

	for (size_t g = 0; g < stitching->group_count; g++) {
		struct group *group = &stitching->groups[g];

		for (size_t n = next; group->anchor && n < stitching->native_count; n++) {
			if (!frame_holds(stitching, n, group->anchor) || !is_eval(stitching, n))
				continue;
			group->eval = n;
			next = n + 1;
			break;
		}
	}
}

static void pair_up(struct stitching *stitching, struct group *group, size_t eval)
{
	group->eval = eval;
	stitching->flags |= STITCH_COUNTED;
}

/*
 * Counts the groups without anchor among groups[low, high) to the evaluation
 * loops among native[inner, outer).
 */
static void count_segment(struct stitching *stitching, size_t low, size_t high, size_t inner,
			  size_t outer, bool from_outermost)
{
	if (from_outermost) {
		for (size_t n = outer, g = high; g > low; g--) {
			if (stitching->groups[g - 1].anchor)
				continue;
			while (n > inner && !is_eval(stitching, n - 1))
				n--;
			if (n == inner)
				return;
			pair_up(stitching, &stitching->groups[g - 1], --n);
		}
		return;
	}
	for (size_t n = inner, g = low; g < high; g++) {
		if (stitching->groups[g].anchor)
			continue;
		while (n < outer && !is_eval(stitching, n))
			n++;
		if (n == outer)
			return;
		pair_up(stitching, &stitching->groups[g], n++);
	}
}

/* Between each two neighbours that anchors have matched, and beyond the first and the last. */
static void match_by_counting(struct stitching *stitching)
{
	bool complete =
		stitching->end == UNWIND_COMPLETE &&
		!(stitching->python->flags & (PYTHON_STACK_TRUNCATED | PYTHON_STACK_INVALID));
	size_t low = 0, inner = 0;

	for (size_t g = 0; g < stitching->group_count; g++) {
		size_t eval = stitching->groups[g].eval;

		if (eval == NO_PARTNER)
			continue;
		count_segment(stitching, low, g, inner, eval, true);
		low = g + 1;
		inner = eval + 1;
	}
	count_segment(stitching, low, stitching->group_count, inner, stitching->native_count,
		      complete);
}

/* Where each group goes, from the outermost inwards. */
static void find_positions(struct stitching *stitching)
{
	size_t limit = stitching->native_count;

	for (size_t g = stitching->group_count; g > 0; g--) {
		struct group *group = &stitching->groups[g - 1];

		if (group->eval != NO_PARTNER) {
			limit = group->eval;
		} else if (group->anchor) {
			/* Inside of the frame that holds the anchor, or of those above it. */
			while (limit > 0) {
				remote_addr end = frame_end(stitching, limit - 1);

				if (end && end <= group->anchor)
					break;
				limit--;
			}
		}
		group->position = limit;
	}
}

static void emit(struct stitching *stitching, const struct frame *frame)
{
	if (stitching->count < stitching->maximum)
		stitching->frames[stitching->count++] = *frame;
	else
		stitching->flags |= STITCH_TRUNCATED;
}

static void emit_native(struct stitching *stitching, size_t index)
{
	const struct native_frame *native = &stitching->native[index];
	struct frame frame = {
		.kind = FRAME_NATIVE,
		.flags = native->flags & NATIVE_FRAME_GUESSED ? FRAME_GUESSED : 0,
		.native = {
			.module = native->module,
			.function = native->function,
			.pc = native_frame_lookup_address(native, index == 0),
		},
	};

	if (is_eval(stitching, index))
		frame.flags |= FRAME_EVAL;
	emit(stitching, &frame);
}

static void emit_group(struct stitching *stitching, const struct group *group)
{
	for (size_t i = group->first; i < group->end; i++) {
		struct frame frame = {
			.kind = FRAME_PYTHON,
			.flags = group->eval == NO_PARTNER ? FRAME_UNMATCHED : 0,
			.python = {
				.code = stitching->python->frames[i].code,
				.instruction_offset = stitching->python->frames[i].instruction_offset,
			},
		};

		emit(stitching, &frame);
	}
}

static void stitch_merge(struct stitching *stitching)
{
	size_t next = 0;
	bool eval_passed = false;

	for (size_t g = 0; g <= stitching->group_count; g++) {
		const struct group *group =
			g < stitching->group_count ? &stitching->groups[g] : NULL;
		size_t position = group ? group->position : stitching->native_count;

		for (; next < position; next++) {
			if (is_eval(stitching, next)) {
				if (eval_passed || g > 0)
					stitching->flags |= STITCH_UNMATCHED;
				eval_passed = true;
			}
			emit_native(stitching, next);
		}
		if (!group)
			break;
		emit_group(stitching, group);
		if (group->eval != NO_PARTNER)
			next = group->eval + 1;
		else if (stitching->end != UNWIND_STOPPED || position < stitching->native_count)
			stitching->flags |= STITCH_UNMATCHED;
	}
}

static void turn_round(struct frame *frames, size_t count)
{
	for (size_t i = 0; i < count / 2; i++) {
		struct frame frame = frames[i];

		frames[i] = frames[count - 1 - i];
		frames[count - 1 - i] = frame;
	}
}

uint32_t stitch(const struct native_frame *native, size_t native_count, enum unwind_end end,
		const struct python_stack *python, const struct address_ranges *eval,
		struct frame *frames, size_t maximum, size_t *ret_count)
{
	struct stitching stitching;
	bool ended_early;

	/* Member by member: the groups need not be cleared, which would cost 20 KB a sample. */
	stitching.native = native;
	stitching.native_count = native_count;
	stitching.end = end;
	stitching.python = python;
	stitching.eval = eval;
	stitching.group_count = 0;
	stitching.flags = 0;
	stitching.frames = frames;
	stitching.maximum = maximum;
	stitching.count = 0;

	split_groups(&stitching);
	match_anchors(&stitching);
	match_by_counting(&stitching);
	find_positions(&stitching);
	stitch_merge(&stitching);
	turn_round(frames, stitching.count);
	ended_early = (end != UNWIND_COMPLETE && end != UNWIND_STOPPED) ||
		      python->flags & (PYTHON_STACK_TRUNCATED | PYTHON_STACK_INVALID) ||
		      stitching.flags & STITCH_TRUNCATED;
	if (stitching.count && ended_early)
		frames[0].flags |= FRAME_TRUNCATED_ABOVE;
	*ret_count = stitching.count;
	return stitching.flags;
}
