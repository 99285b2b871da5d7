/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/cct/stitch.h"
#include "unit_random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#define FRAMES_MAX 1024
#define EVAL_PC    0x5000 /* inside of eval */
#define LIBRARY_PC 0x9000

static const struct address_ranges eval = { .items = { { 0x5000, 0x5800 }, { 0x7000, 0x7100 } },
					    .count = 2 };
static const struct python_code codes[PYTHON_STACK_FRAMES_MAX];

/*
 * A stack written as text, innermost first. Native: 'e' an evaluation loop,
 * other letters library frames. Python: letters, ')' behind a group's entry frame.
 * The n-th native frame (from the innermost) has the stack [0x1000 * n, 0x1000 * (n + 1)).
 */
struct scene {
	struct native_frame native[FRAMES_MAX];
	size_t native_count;
	struct python_stack python;
	struct frame frames[2 * FRAMES_MAX];
	size_t count;
	uint32_t flags;
};

static struct scene scene;

static void set_native(const char *letters)
{
	scene.native_count = strlen(letters);
	for (size_t i = 0; letters[i]; i++)
		scene.native[i] = (struct native_frame){
			/* Return addresses are looked up one byte earlier. */
			.pc = letters[i] == 'e' ? (i % 2 ? EVAL_PC + 1 : 0x7000 + (i > 0))
						: LIBRARY_PC + 0x100 * (remote_addr)letters[i],
			.sp = 0x1000 * i,
			.cfa = letters[i + 1] ? 0x1000 * (i + 1) : 0,
			.function = letters[i] == 'e'
					    ? EVAL_PC
					    : LIBRARY_PC + 0x100 * (remote_addr)letters[i],
		};
}

/* anchors: the native frame each group's anchor lies in, one digit a group; NULL: none; '-': none
 * for this one. */
static void set_python(const char *letters, const char *anchors)
{
	memset(&scene.python, 0, sizeof(scene.python));
	for (size_t i = 0; letters[i]; i++) {
		struct python_frame *frame;

		if (letters[i] == ')') {
			frame = &scene.python.frames[scene.python.count - 1];
			frame->entry = true;
			if (anchors && *anchors != '-')
				frame->anchor = 0x1000 * (remote_addr)(*anchors - '0') + 0x20;
			anchors += anchors != NULL;
			continue;
		}
		frame = &scene.python.frames[scene.python.count++];
		frame->code = &codes[letters[i] - 'A'];
		frame->instruction_offset = letters[i];
	}
}

/* The hybrid stack as text, outermost first; an unmatched frame is in lower case for Python, '*'
 * for an evaluation loop. */
static const char *run(enum unwind_end end, size_t maximum)
{
	static char text[2 * FRAMES_MAX + 1];

	memset(scene.frames, 0xff, sizeof(scene.frames));
	scene.flags = stitch(scene.native, scene.native_count, end, &scene.python, &eval,
			     scene.frames, maximum, &scene.count);
	for (size_t i = 0; i < scene.count; i++) {
		const struct frame *frame = &scene.frames[i];

		if (frame->kind == FRAME_PYTHON)
			text[i] = (char)(frame->python.instruction_offset |
					 (frame->flags & FRAME_UNMATCHED ? 0x20 : 0));
		else if (frame->flags & FRAME_EVAL)
			text[i] = '*';
		else
			text[i] = (char)((frame->native.function - LIBRARY_PC) / 0x100);
	}
	text[scene.count] = '\0';
	return text;
}

static void test_anchored(void **state)
{
	(void)state;
	set_native("laecxeym");
	set_python("AB)C)", "25");
	assert_string_equal(run(UNWIND_COMPLETE, FRAMES_MAX), "myCxcBAal");
	assert_int_equal(scene.flags, 0);
	assert_int_equal(scene.frames[0].flags, 0);
	/* The place to look up lies inside of the calling instruction, but for the innermost frame.
	 */
	assert_int_equal(scene.frames[8].native.pc, LIBRARY_PC + 0x100 * 'l');
	assert_int_equal(scene.frames[7].native.pc, LIBRARY_PC + 0x100 * 'a' - 1);
}

static void test_innermost_loop_without_python_frame(void **state)
{
	(void)state;
	/* Entering: the innermost loop is there, its Python frame is not. */
	set_native("lexem");
	set_python("AB)", "3");
	assert_string_equal(run(UNWIND_COMPLETE, FRAMES_MAX), "mBAx*l");
	assert_int_equal(scene.flags, 0);
	/* The same by counting. */
	set_native("eexem");
	set_python("A)B)", NULL);
	assert_string_equal(run(UNWIND_COMPLETE, FRAMES_MAX), "mBxA*");
	assert_int_equal(scene.flags, STITCH_COUNTED);
}

static void test_counted_from_the_innermost_when_the_walk_ended_early(void **state)
{
	(void)state;
	set_native("lexec");
	set_python("A)B)C)D)", NULL);
	assert_string_equal(run(UNWIND_NO_CFI, FRAMES_MAX), "dccBxAl");
	assert_int_equal(scene.flags, STITCH_COUNTED | STITCH_UNMATCHED);
	assert_int_equal(scene.frames[0].flags, FRAME_UNMATCHED | FRAME_TRUNCATED_ABOVE);
	/* A Python walk that ended early: the outermost groups are missing. */
	set_native("lexecem");
	set_python("A)B", NULL);
	scene.python.flags = PYTHON_STACK_TRUNCATED;
	assert_string_equal(run(UNWIND_COMPLETE, FRAMES_MAX), "m*cBxAl");
	assert_int_equal(scene.flags, STITCH_COUNTED | STITCH_UNMATCHED);
	assert_int_equal(scene.frames[0].flags, FRAME_TRUNCATED_ABOVE);
}

static void test_walk_stopped_at_the_innermost_loop(void **state)
{
	(void)state;
	set_native("lae");
	scene.native[2].cfa = 0x3000; /* the unwinder promises it here */
	set_python("AB)C)D)", "258");
	assert_string_equal(run(UNWIND_STOPPED, FRAMES_MAX), "dcBAal");
	assert_int_equal(scene.flags, 0);
	assert_int_equal(scene.frames[0].flags, FRAME_UNMATCHED);
	assert_int_equal(scene.frames[2].flags, 0);
}

static void test_group_without_loop(void **state)
{
	(void)state;
	/* The loop of B was not recognised (x holds its anchor): B stands where it ran. */
	set_native("laexem");
	set_python("A)B)C)", "234");
	assert_string_equal(run(UNWIND_COMPLETE, FRAMES_MAX), "mCxbAal");
	assert_int_equal(scene.flags, STITCH_UNMATCHED);
	/* Counted: the surplus is innermost. */
	set_native("laem");
	set_python("A)B)", NULL);
	assert_string_equal(run(UNWIND_COMPLETE, FRAMES_MAX), "mBaal");
	assert_int_equal(scene.flags, STITCH_COUNTED | STITCH_UNMATCHED);
}

static void test_group_with_lost_anchor_is_counted(void **state)
{
	(void)state;
	set_native("lexeyem");
	set_python("A)B)C)", "1-5");
	assert_string_equal(run(UNWIND_COMPLETE, FRAMES_MAX), "mCyBxAl");
	assert_int_equal(scene.flags, STITCH_COUNTED);
}

static void test_anchors_out_of_order(void **state)
{
	(void)state;
	/* Whatever a torn or hostile stack says, order is kept. */
	set_native("lexeyem");
	set_python("A)B)C)", "531");
	assert_string_equal(run(UNWIND_COMPLETE, FRAMES_MAX), "mcbAy*x*l");
	assert_int_equal(scene.flags, STITCH_UNMATCHED);
}

static void test_one_side_empty(void **state)
{
	(void)state;
	set_native("lam");
	set_python("", NULL);
	assert_string_equal(run(UNWIND_COMPLETE, FRAMES_MAX), "mal");
	assert_int_equal(scene.flags, 0);
	set_native("leaem");
	assert_string_equal(run(UNWIND_COMPLETE, FRAMES_MAX), "m*a*l");
	assert_int_equal(scene.flags, STITCH_UNMATCHED);
	set_native("");
	set_python("AB)", "1");
	assert_string_equal(run(UNWIND_NO_MODULE, FRAMES_MAX), "ba");
	assert_int_equal(scene.flags, STITCH_UNMATCHED);
	set_python("", NULL);
	assert_string_equal(run(UNWIND_NO_MODULE, FRAMES_MAX), "");
	assert_int_equal(scene.flags, 0);
}

static void test_array_too_small(void **state)
{
	(void)state;
	set_native("laecxeym");
	set_python("AB)C)", "25");
	assert_string_equal(run(UNWIND_COMPLETE, 4), "BAal");
	assert_int_equal(scene.flags, STITCH_TRUNCATED);
	assert_int_equal(scene.frames[0].flags, FRAME_TRUNCATED_ABOVE);
	assert_string_equal(run(UNWIND_COMPLETE, 0), "");
	assert_int_equal(scene.flags, STITCH_TRUNCATED);
	assert_string_equal(run(UNWIND_COMPLETE, 9), "myCxcBAal");
	assert_int_equal(scene.flags, 0);
}

static void test_guessed_frames_keep_their_flag(void **state)
{
	(void)state;
	set_native("lem");
	scene.native[0].flags = NATIVE_FRAME_GUESSED;
	set_python("A)", "1");
	run(UNWIND_COMPLETE, FRAMES_MAX);
	assert_int_equal(scene.frames[2].flags, FRAME_GUESSED);
}

static void test_interrupted_loop_is_looked_up_exactly(void **state)
{
	(void)state;
	/* A signal handler's frames above a loop that was hit on its first instruction. */
	set_native("hem");
	scene.native[1].pc = EVAL_PC;
	scene.native[1].flags = NATIVE_FRAME_SIGNAL;
	set_python("A)", "1");
	assert_string_equal(run(UNWIND_COMPLETE, FRAMES_MAX), "mAh");
}

/* ---- properties, on random stacks ---- */

struct truth {
	struct frame hybrid[2 * FRAMES_MAX]; /* innermost first */
	size_t count;
};

static struct truth truth;

static void add_truth(const struct frame *frame)
{
	truth.hybrid[truth.count++] = *frame;
}

static void add_native(struct unit_random *random, remote_addr *sp, bool is_eval)
{
	struct native_frame *native = &scene.native[scene.native_count];
	bool innermost = scene.native_count++ == 0;
	remote_addr function =
		is_eval ? EVAL_PC : LIBRARY_PC + 0x100 * unit_random_below(random, 50);

	*native = (struct native_frame){ .pc = function + 1 + unit_random_below(random, 16),
					 .sp = *sp,
					 .function = function };
	*sp += 16 * (1 + unit_random_below(random, 30));
	native->cfa = *sp;
	if (!is_eval) {
		struct frame frame = { .kind = FRAME_NATIVE,
				       .native = { .function = function,
						   .pc = native_frame_lookup_address(native,
										     innermost) } };

		add_truth(&frame);
	}
}

/* A true stack: library frames, loops, a group for each loop. anchored: as from 3.11 on. */
static void make_stack(struct unit_random *random, bool anchored, bool surplus)
{
	size_t evals = unit_random_below(random, 8);
	remote_addr sp = 0x7000000;

	memset(&scene.python, 0, sizeof(scene.python));
	scene.native_count = truth.count = 0;
	for (size_t e = 0; e <= evals; e++) {
		for (size_t i = unit_random_below(random, 4); i > 0; i--)
			add_native(random, &sp, false);
		if (e == evals)
			break;
		add_native(random, &sp, true);
		if (e == 0 && surplus) {
			struct frame frame = {
				.kind = FRAME_NATIVE,
				.flags = FRAME_EVAL,
				.native = { .function = EVAL_PC,
					    .pc = native_frame_lookup_address(
						    &scene.native[scene.native_count - 1],
						    scene.native_count == 1) }
			};

			add_truth(&frame);
			continue;
		}
		for (size_t i = anchored ? 1 + unit_random_below(random, 5) : 1; i > 0; i--) {
			struct python_frame *python = &scene.python.frames[scene.python.count];
			const struct native_frame *native = &scene.native[scene.native_count - 1];
			struct frame frame = { .kind = FRAME_PYTHON };

			*python = (struct python_frame){
				.code = &codes[scene.python.count],
				.instruction_offset = (int)unit_random_below(random, 100)
			};
			python->entry = i == 1;
			if (python->entry && anchored)
				python->anchor =
					native->sp +
					unit_random_below(random, native->cfa - native->sp);
			scene.python.count++;
			frame.python.code = python->code;
			frame.python.instruction_offset = python->instruction_offset;
			add_truth(&frame);
		}
	}
	if (scene.native_count)
		scene.native[scene.native_count - 1].cfa = unit_random_below(random, 2) ? sp : 0;
}

static void test_whole_stacks_are_exact(void **state)
{
	struct unit_random random = { .state = 1 };

	(void)state;
	for (int round = 0; round < 20000; round++) {
		bool anchored = unit_random_below(&random, 2),
		     surplus = unit_random_below(&random, 4) == 0;

		make_stack(&random, anchored, surplus);
		/* Whatever is outermost was called by something: the very last frame is a
		 * library's. */
		if (scene.native_count && scene.native[scene.native_count - 1].function == EVAL_PC)
			scene.native[scene.native_count - 1].cfa =
				scene.native[scene.native_count - 1].sp + 480;
		run(UNWIND_COMPLETE, 2 * FRAMES_MAX);
		assert_int_equal(scene.flags & ~STITCH_COUNTED, 0);
		assert_int_equal(scene.count, truth.count);
		for (size_t i = 0; i < scene.count; i++) {
			const struct frame *got = &scene.frames[scene.count - 1 - i],
					   *want = &truth.hybrid[i];

			assert_true(frame_equal(got, want));
			assert_int_equal(got->flags, want->flags);
			if (got->kind == FRAME_NATIVE)
				assert_int_equal(got->native.pc, want->native.pc);
		}
	}
}

/* Damages the input in every way the readers can, then checks what must hold whatever comes. */
static void damage(struct unit_random *random)
{
	if (unit_random_below(random, 3) == 0)
		scene.native_count = unit_random_below(random, scene.native_count + 1);
	if (unit_random_below(random, 3) == 0) {
		scene.python.count = unit_random_below(random, scene.python.count + 1);
		scene.python.flags = PYTHON_STACK_TRUNCATED;
	}
	for (size_t i = 0; i < scene.python.count; i++) {
		struct python_frame *frame = &scene.python.frames[i];

		if (unit_random_below(random, 10) == 0)
			frame->anchor =
				frame->entry ? unit_random_below(random, 2) *
						       (0x7000000 + unit_random_below(random, 8000))
					     : 0;
		if (unit_random_below(random, 20) == 0)
			frame->entry = !frame->entry;
	}
	for (size_t i = 0; i < scene.native_count; i++) {
		if (unit_random_below(random, 20) == 0)
			scene.native[i].cfa = 0;
		if (unit_random_below(random, 20) == 0)
			scene.native[i].sp = unit_random_next(random);
		if (unit_random_below(random, 20) == 0)
			scene.native[i].pc =
				unit_random_below(random, 2) ? EVAL_PC + 1 : LIBRARY_PC;
	}
}

static void test_damaged_stacks_keep_order_and_lose_nothing(void **state)
{
	struct unit_random random = { .state = 2 };

	(void)state;
	for (int round = 0; round < 50000; round++) {
		enum unwind_end end = (enum unwind_end)unit_random_below(&random, UNWIND_END_COUNT);
		size_t python = 0, native = 0, replaced = 0, matched = 0, groups = 0;
		bool in_matched = false;

		make_stack(&random, unit_random_below(&random, 2),
			   unit_random_below(&random, 4) == 0);
		damage(&random);
		run(end, 2 * FRAMES_MAX);
		assert_false(scene.flags & STITCH_TRUNCATED);
		for (size_t i = 0; i < scene.count; i++) {
			const struct frame *frame = &scene.frames[scene.count - 1 - i];

			if (frame->kind == FRAME_PYTHON) {
				const struct python_frame *source = &scene.python.frames[python++];

				assert_true(python <= scene.python.count);
				assert_ptr_equal(frame->python.code, source->code);
				assert_int_equal(frame->python.instruction_offset,
						 source->instruction_offset);
				in_matched = !(frame->flags & FRAME_UNMATCHED);
				if (source->entry || python == scene.python.count) {
					groups++;
					matched += in_matched;
				}
				continue;
			}
			/* Evaluation loops that were replaced are left out, nothing else is. */
			for (;; native++, replaced++) {
				bool is_eval;

				assert_true(native < scene.native_count);
				is_eval = address_ranges_contain(
					&eval, native_frame_lookup_address(&scene.native[native],
									   native == 0));
				if (native_frame_lookup_address(&scene.native[native],
								native == 0) == frame->native.pc &&
				    is_eval == !!(frame->flags & FRAME_EVAL) &&
				    (!is_eval || replaced == matched))
					break;
				assert_true(is_eval);
			}
			native++;
		}
		replaced += scene.native_count - native;
		assert_int_equal(python, scene.python.count);
		assert_int_equal(replaced, matched);
		assert_int_equal(scene.count, scene.python.count + scene.native_count - matched);
		if (matched < groups && end != UNWIND_STOPPED)
			assert_true(scene.flags & STITCH_UNMATCHED);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_anchored),
		cmocka_unit_test(test_innermost_loop_without_python_frame),
		cmocka_unit_test(test_counted_from_the_innermost_when_the_walk_ended_early),
		cmocka_unit_test(test_walk_stopped_at_the_innermost_loop),
		cmocka_unit_test(test_group_without_loop),
		cmocka_unit_test(test_group_with_lost_anchor_is_counted),
		cmocka_unit_test(test_anchors_out_of_order),
		cmocka_unit_test(test_one_side_empty),
		cmocka_unit_test(test_array_too_small),
		cmocka_unit_test(test_guessed_frames_keep_their_flag),
		cmocka_unit_test(test_interrupted_loop_is_looked_up_exactly),
		cmocka_unit_test(test_whole_stacks_are_exact),
		cmocka_unit_test(test_damaged_stacks_keep_order_and_lose_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
