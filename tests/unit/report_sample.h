/* SPDX-License-Identifier: Apache-2.0 */
/* A finished profile built by hand, for the tests of what reads one. */
#ifndef PIEPROFD_TESTS_UNIT_REPORT_SAMPLE_H
#define PIEPROFD_TESTS_UNIT_REPORT_SAMPLE_H

#include "daemon/report/format/writer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SAMPLE_LIBRARY "/usr/lib/python3/dist-packages/numpy/core/_multiarray_umath.so"
#define SAMPLE_FILE    "/home/user/project/conv_backprop.py"
#define SAMPLE_ADVICE  "index whole slices at once instead of one element a call"

/* Innermost last, as a profile has them: five native frames start the interpreter. */
static const struct profile_frame sample_first[] = {
	{ .kind = FRAME_NATIVE,
	  .function = "_start",
	  .file = "/usr/bin/python3.11",
	  .address = 0x100 },
	{ .kind = FRAME_NATIVE,
	  .function = "main",
	  .file = "/usr/bin/python3.11",
	  .address = 0x200 },
	{ .kind = FRAME_NATIVE,
	  .function = "Py_BytesMain",
	  .file = "/usr/bin/python3.11",
	  .address = 0x300 },
	{ .kind = FRAME_NATIVE,
	  .function = "Py_RunMain",
	  .file = "/usr/bin/python3.11",
	  .address = 0x400 },
	{ .kind = FRAME_NATIVE,
	  .function = "PyEval_EvalCode",
	  .file = "/usr/bin/python3.11",
	  .address = 0x500 },
	{ .kind = FRAME_PYTHON,
	  .function = "<module>",
	  .file = SAMPLE_FILE,
	  .line = 90,
	  .opcode = "CALL",
	  .source = "main()" },
	{ .kind = FRAME_PYTHON,
	  .function = "Convolution.backprop",
	  .file = SAMPLE_FILE,
	  .line = 33,
	  .opcode = "BINARY_SUBSCR",
	  .source = "g[f] += d[i, j, f] * r" },
	{ .kind = FRAME_NATIVE,
	  .function = "array_subscript",
	  .file = SAMPLE_LIBRARY,
	  .address = 0x2b72 },
	{ .kind = FRAME_NATIVE,
	  .function = "prepare_index",
	  .file = SAMPLE_LIBRARY,
	  .address = 0x2a10,
	  .flags = FRAME_GUESSED },
};

/* The same but for its leaf. */
static const struct profile_frame sample_second[] = {
	{ .kind = FRAME_NATIVE,
	  .function = "_start",
	  .file = "/usr/bin/python3.11",
	  .address = 0x100 },
	{ .kind = FRAME_NATIVE,
	  .function = "main",
	  .file = "/usr/bin/python3.11",
	  .address = 0x200 },
	{ .kind = FRAME_NATIVE,
	  .function = "Py_BytesMain",
	  .file = "/usr/bin/python3.11",
	  .address = 0x300 },
	{ .kind = FRAME_NATIVE,
	  .function = "Py_RunMain",
	  .file = "/usr/bin/python3.11",
	  .address = 0x400 },
	{ .kind = FRAME_NATIVE,
	  .function = "PyEval_EvalCode",
	  .file = "/usr/bin/python3.11",
	  .address = 0x500 },
	{ .kind = FRAME_PYTHON,
	  .function = "<module>",
	  .file = SAMPLE_FILE,
	  .line = 90,
	  .opcode = "CALL",
	  .source = "main()" },
	{ .kind = FRAME_PYTHON,
	  .function = "Convolution.backprop",
	  .file = SAMPLE_FILE,
	  .line = 33,
	  .opcode = "STORE_SUBSCR",
	  .source = "g[f] += d[i, j, f] * r" },
	{ .kind = FRAME_NATIVE,
	  .function = "array_assign_subscript",
	  .file = SAMPLE_LIBRARY,
	  .address = 0x3c40 },
};

static const struct profile_line sample_lines[] = {
	{
		.file = SAMPLE_FILE,
		.line = 90,
		.function = "<module>",
		.source = "main()",
		.self_ns = { 10000000, 0, 0 },
		.total_ns = 9800000000,
	},
	{
		.file = SAMPLE_FILE,
		.line = 33,
		.function = "Convolution.backprop",
		.source = "g[f] += d[i, j, f] * r",
		.self_ns = { 2000000000, 5500000000, 123000000 },
		.total_ns = 7623000000,
		.accesses = { { 450, 430, 412, 3 }, { 40, 31, 20, 1 } },
		.charged_ns = 7700000000,
		.avoidable_ns = 3100000000,
		.avoidable_low_ns = 2600000000,
		.avoidable_high_ns = 3700000000,
		.call_ns = 1234,
		.evidence = { .redundant_by_memory = { 300, 100, 35, 1 },
			      .repeated = 400,
			      .call_samples = 321,
			      .site_loads = 210,
			      .site_loads_redundant = 200,
			      .site_stores = 12,
			      .site_stores_redundant = 11,
			      .again = 8,
			      .again_redundant = 7 },
		.category = CATEGORY_SLICE_UNDERUTILISATION,
		.reasons = { "its native calls are short", "the same element of the loop" },
		.reason_count = 2,
	},
	{
		/* Its source cannot be read. */
		.file = "/usr/lib/python3.11/json/encoder.py",
		.line = 200,
		.function = "encode",
		.self_ns = { 900000000, 200000000, 50000000 },
		.total_ns = 1150000000,
		.accesses = { { 17, 2, 1, 0 }, { 0, 0, 0, 0 } },
		.charged_ns = 1150000000,
		.avoidable_ns = 41000000,
		.avoidable_low_ns = 2000000,
		.avoidable_high_ns = 210000000,
	},
};

static const struct profile_pair sample_pairs[] = {
	{
		.kind = PAIR_LOAD,
		.sampled = 437,
		.redundant = 409,
		.approximate = 2,
		.share = 409.0 / 437,
		.share_low = 0.909,
		.share_high = 0.955,
		.avoidable_ns = 2900000000,
		.category = CATEGORY_SLICE_UNDERUTILISATION,
		.advice = SAMPLE_ADVICE,
		.first = sample_first,
		.first_count = sizeof(sample_first) / sizeof(sample_first[0]),
		.second = sample_second,
		.second_count = sizeof(sample_second) / sizeof(sample_second[0]),
		.line = &sample_lines[1],
	},
	{
		/* Both paths the same. */
		.kind = PAIR_STORE,
		.sampled = 31,
		.redundant = 20,
		.approximate = 1,
		.share = 20.0 / 31,
		.share_low = 0.469,
		.share_high = 0.789,
		.avoidable_ns = 77000000,
		.advice = "",
		.first = sample_second,
		.first_count = sizeof(sample_second) / sizeof(sample_second[0]),
		.second = sample_second,
		.second_count = sizeof(sample_second) / sizeof(sample_second[0]),
		.line = &sample_lines[1],
	},
};

#define SAMPLE_BUILD_ID "571d98e01096d5c1c32420d229a6731a0a50d2a0"

/*
 * _start -- <module> -+- backprop -+- a function without name
 *                     |            `- array_subscript
 *                     `- encode
 */
static const struct profile_frame sample_tree_frames[] = {
	{ .kind = FRAME_NATIVE,
	  .function = "_start",
	  .file = "/usr/bin/python3.11",
	  .address = 0x100,
	  .function_address = 0x100,
	  .build_id = SAMPLE_BUILD_ID },
	{ .kind = FRAME_PYTHON, .function = "<module>", .file = SAMPLE_FILE, .line = 90 },
	{ .kind = FRAME_PYTHON,
	  .function = "Convolution.backprop",
	  .file = SAMPLE_FILE,
	  .line = 33,
	  .source = "g[f] += d[i, j, f] * r" },
	{ .kind = FRAME_NATIVE,
	  .function = "?",
	  .file = "/usr/lib/libm.so.6",
	  .address = 0x9abc,
	  .function_address = 0x9abc },
	{ .kind = FRAME_NATIVE,
	  .function = "array_subscript",
	  .file = SAMPLE_LIBRARY,
	  .address = 0x2b40,
	  .function_address = 0x2b40,
	  .native_file = "numpy/core/src/mapping.c",
	  .line = 1475 },
	{ .kind = FRAME_PYTHON,
	  .function = "encode",
	  .file = "/usr/lib/python3.11/json/encoder.py",
	  .line = 200 },
};

static const struct profile_node sample_nodes[] = {
	{ .parent = PROFILE_NODE_NONE, .frame = 0, .depth = 0 },
	{ .parent = 0,
	  .frame = 1,
	  .depth = 1,
	  .samples = { 1, 0, 0 },
	  .time_ns = { 10000400, 0, 0 } },
	{ .parent = 1,
	  .frame = 2,
	  .depth = 2,
	  .samples = { 200, 0, 12 },
	  .time_ns = { 1999999700, 0, 123000000 } },
	{ .parent = 2,
	  .frame = 3,
	  .depth = 3,
	  .samples = { 0, 30, 0 },
	  .time_ns = { 0, 300000000, 0 } },
	{ .parent = 2,
	  .frame = 4,
	  .depth = 3,
	  .samples = { 0, 550, 0 },
	  .time_ns = { 0, 5500000000, 0 } },
	{ .parent = 1,
	  .frame = 5,
	  .depth = 2,
	  .samples = { 99, 20, 75 },
	  .time_ns = { 989999900, 200000000, 677000000 } },
};

static const struct profile_thread sample_threads[] = {
	{ .tid = 4321, .name = "MainThread", .time_ns = { 2900000000, 6000000000, 800000000 } },
	{ .name = "others", .time_ns = { 100000000, 0, 0 } },
};

static const struct profile_cell sample_thread_cells[] = {
	{ .owner = 0, .slice = 0, .time_ns = { 10101010, 20202020, 0 } },
	{ .owner = 0, .slice = 3, .time_ns = { 0, 0, 7142857 } },
	{ .owner = 1, .slice = 1, .time_ns = { 10101010, 0, 0 } },
};

static const struct profile_cell sample_node_cells[] = {
	{ .owner = 1, .slice = 0, .time_ns = { 10000400, 0, 0 } },
	{ .owner = 4, .slice = 1, .time_ns = { 0, 5500000000, 0 } },
};

static const struct profile_thread sample_stack_threads[] = {
	{ .tid = 4321, .name = "MainThread", .time_ns = { 2009000100, 5000000000, 123000000 } },
	{ .tid = 4322, .name = "worker", .time_ns = { 989999900, 700000000, 600000000 } },
};

/* Less than the nodes have: of the rest it is not known which thread it was. */
static const struct profile_stack sample_stacks[] = {
	{ .thread = 0, .node = 1, .samples = { 1, 0, 0 }, .time_ns = { 10000400, 0, 0 } },
	{ .thread = 0,
	  .node = 2,
	  .samples = { 200, 0, 12 },
	  .time_ns = { 1999999700, 0, 123000000 } },
	{ .thread = 0, .node = 4, .samples = { 0, 500, 0 }, .time_ns = { 0, 5000000000, 0 } },
	{ .thread = 1, .node = 4, .samples = { 0, 50, 0 }, .time_ns = { 0, 500000000, 0 } },
	{ .thread = 1,
	  .node = 5,
	  .samples = { 99, 20, 75 },
	  .time_ns = { 989999900, 200000000, 600000000 } },
};

static const struct profile_cell sample_stack_cells[] = {
	{ .owner = 0, .slice = 2, .time_ns = { 10000400, 0, 0 } },
	{ .owner = 2, .slice = 0, .time_ns = { 0, 4000000, 0 } },
	{ .owner = 2, .slice = 3, .time_ns = { 0, 6000000, 0 } },
	{ .owner = 4, .slice = 1, .time_ns = { 20000000, 10000000, 0 } },
};

static const char *const sample_command[] = { "python3", "conv_backprop.py", "--seconds", "60",
					      NULL };

static inline struct profile sample_profile(void)
{
	struct profile profile = {
		.facts = {
			.target = {
				.pid = 4321, .comm = "python3", .python = { 3, 11, 2 },
				.command = sample_command,
			},
			.version = "9.8.7", .sampler = "clock", .period_ns = 10101010, .cpu_ns = 5900000000,
			.started_unix_ns = 1700000000123456789,
			.duration_ns = 10020000000, .samples = 987,
			.stops = { .count = 2961, .p50_ns = 31400, .p99_ns = 87600, .max_ns = 245000 },
			.sample_stops = { .count = 987, .p50_ns = 41200, .p99_ns = 91300,
					 .max_ns = 245000 },
			.breakpoint_stops = { .count = 1974, .p50_ns = 28700, .p99_ns = 66600,
					      .max_ns = 120000 },
			.overhead = 0.0083, .overhead_limit = 0.02,
		},
		.lines = sample_lines, .line_count = sizeof(sample_lines) / sizeof(sample_lines[0]),
		.pairs = sample_pairs, .pair_count = sizeof(sample_pairs) / sizeof(sample_pairs[0]),
		.pairs_omitted = 3,
		.tree = {
			.frames = sample_tree_frames,
			.frame_count = sizeof(sample_tree_frames) / sizeof(sample_tree_frames[0]),
			.nodes = sample_nodes,
			.node_count = sizeof(sample_nodes) / sizeof(sample_nodes[0]),
		},
		.time_ns = { 3000000000, 6000000000, 800000000 },
		.accesses = { { 467, 432, 413, 3 }, { 40, 31, 20, 1 } },
	};

	profile.facts.losses.counts[LOSS_FILTER_STACK] = 1204;
	profile.facts.losses.counts[LOSS_NO_ACCESS] = 56;
	return profile;
}

/* And with these threads, which the text report's first screen has no room for. */
__attribute__((unused)) static void sample_add_threads(struct profile *profile)
{
	profile->facts.threads = sample_threads;
	profile->facts.thread_count = sizeof(sample_threads) / sizeof(sample_threads[0]);
	profile->facts.thread_timeline = (struct profile_timeline){
		.slice_ns = 50000000,
		.slice_count = 4,
		.left_out_ns = 3,
		.cells = sample_thread_cells,
		.cell_count = sizeof(sample_thread_cells) / sizeof(sample_thread_cells[0]),
	};
	profile->facts.node_timeline = (struct profile_timeline){
		.slice_ns = 100000000,
		.slice_count = 2,
		.cells = sample_node_cells,
		.cell_count = sizeof(sample_node_cells) / sizeof(sample_node_cells[0]),
	};
}

/* And with what each of the threads did. */
__attribute__((unused)) static void sample_add_stacks(struct profile *profile)
{
	sample_add_threads(profile);
	profile->facts.threads = sample_stack_threads;
	profile->facts.stacks = sample_stacks;
	profile->facts.stack_count = sizeof(sample_stacks) / sizeof(sample_stacks[0]);
	profile->facts.stack_timeline = (struct profile_timeline){
		.slice_ns = 50000000,
		.slice_count = 4,
		.cells = sample_stack_cells,
		.cell_count = sizeof(sample_stack_cells) / sizeof(sample_stack_cells[0]),
	};
}

/*
 * What a writer makes of it; the caller frees. Not inlined: gcc 12 takes what
 * is returned for a pointer to the local variable that held it.
 */
__attribute__((noinline, unused)) static char *sample_written(const struct writer *writer,
							      const struct profile *profile,
							      const struct writer_options *options)
{
	char *text = NULL;
	size_t size = 0;
	FILE *file = open_memstream(&text, &size);
	int result;

	if (!file)
		abort();
	result = writer->write(profile, options, file);
	if (fclose(file) || result || strlen(text) != size)
		abort();
	return text;
}

#endif
