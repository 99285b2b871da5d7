/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What bytecode says of a line: loops, operands, variables, what expressions are called, how
 * far a call's own instructions reach, and why it may be needed.
 *
 *   u8 minor version, less 6; u16 size of the line table, the line table, the
 *   bytecode
 */
#include "daemon/bytecode/call_site.h"
#include "daemon/bytecode/common_subexpression.h"
#include "daemon/bytecode/expression.h"
#include "daemon/bytecode/operands.h"
#include "daemon/detect/argument_extent.h"
#include "daemon/detect/argument_veto.h"
#include "pyintrospect/offsets.h"
#include "tests/fuzz/fuzz.h"

static void read_operands(const struct python_code *code)
{
	struct variable variables[VARIABLES_MAX];
	struct common_subexpression common;
	struct bytecode bytecode;
	struct operands operands;

	fuzz_must(bytecode_init(&bytecode, code) == 0);
	for (size_t i = 0; i < bytecode.count && i < 128; i++) {
		const struct bytecode_instruction *instruction = &bytecode.instructions[i];

		fuzz_must(instruction->offset < instruction->end && instruction->name);
		fuzz_must(bytecode_at(&bytecode, instruction->offset) == instruction);
		operands_variables(code, instruction, i & 1, variables);
		for (unsigned count = 0; count < 4; count++)
			if (operands_on_top(&bytecode, i, count, &operands))
				fuzz_must(operands.begin <= operands.end && operands.end <= i);
		if (operands_of(&bytecode, i, &operands))
			fuzz_must(operands.begin <= operands.end && operands.end <= i);
		if (common_subexpression_find(&bytecode, instruction->offset, &common))
			fuzz_must(common.first < common.start &&
				  common.start <= instruction->offset &&
				  instruction->offset < common.end);
	}
	bytecode_deinit(&bytecode);
}

static const char *give_line(void *context, int line)
{
	return line & 1 ? context : NULL;
}

static const char *give_name(void *context, enum python_names names, uint32_t index)
{
	return (index + names) % 3 ? "name" : context;
}

static void check_text(const char *text)
{
	fuzz_must(strlen(text) > 0 && strlen(text) <= EXPRESSION_BYTES_MAX);
}

static void read_expressions(const struct python_code *code)
{
	char source[] = "\tname = self.m + f(name, 'a \xe2\x82\xac') # text", text[EXPRESSION_SIZE];
	struct expression_context context = { give_line, give_name, source };
	struct bytecode bytecode;

	fuzz_must(bytecode_init(&bytecode, code) == 0);
	for (int offset = -2; offset < (int)code->bytecode_size + 2 && offset < 256; offset += 2) {
		context.line_of = give_line;
		if (expression_text(&bytecode, offset, &context, text))
			check_text(text);
		context.line_of = NULL;
		if (expression_text(&bytecode, offset, &context, text))
			check_text(text);
		for (int operand = EXPRESSION_RECEIVER; operand < 3; operand++)
			if (expression_operand_name(&bytecode, offset, operand, &context, text))
				check_text(text);
	}
	bytecode_deinit(&bytecode);
}

static bool is_call(const struct bytecode *bytecode, int offset)
{
	const struct bytecode_instruction *instruction = bytecode_at(bytecode, offset);

	return instruction && instruction->offset == offset &&
	       strncmp(instruction->name, "CALL", 4) == 0;
}

/* The instructions of a call, and the call that its operands come from. */
static void read_extent(const struct bytecode *bytecode, int offset)
{
	const struct bytecode_instruction *instruction = bytecode_at(bytecode, offset), *first;
	struct argument_extent extent = argument_extent_find(bytecode, offset);
	int origin = argument_extent_origin(bytecode, offset);

	fuzz_must(extent.start <= offset && offset < extent.end);
	fuzz_must(origin < 0 || instruction);
	if (!instruction) {
		fuzz_must(extent.end == offset + 1);
		return;
	}
	first = bytecode_at(bytecode, extent.start);
	fuzz_must(first && first->offset == extent.start && first <= instruction);
	fuzz_must(extent.end <= bytecode->instructions[bytecode->count - 1].end);
	if (origin < 0)
		return;
	fuzz_must(origin >= extent.start && origin < instruction->offset);
	fuzz_must(is_call(bytecode, origin));
	fuzz_must(argument_extent_find(bytecode, origin).start <= extent.start);
}

static void read_site(struct call_site_table *sites, const struct call_site *site)
{
	const struct bytecode *bytecode = call_site_bytecode(sites, site->code);
	struct argument_veto veto;

	fuzz_must(bytecode);
	read_extent(bytecode, site->offset);
	veto = argument_veto_find(bytecode, site);
	fuzz_must(site->in_loop || (!veto.result_changes && !veto.operand_changes));
	fuzz_must(!veto.dropped || (!veto.result_changes && !veto.result_replaces));
	fuzz_must(bytecode_at(bytecode, site->offset) || !veto.dropped);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input input = { data, size }, lines;
	struct python_code code = { .function = "f", .file = "f.py", .first_line = 1 };
	struct call_site_table sites;
	struct call_site site;
	uint8_t *table, *bytecode;
	int step;

	code.minor = PYTHON_MINOR_MIN +
		     (int)(fuzz_number(&input, 1) % (PYTHON_MINOR_MAX - PYTHON_MINOR_MIN + 1));
	lines.left = (size_t)fuzz_number(&input, 2);
	lines.at = fuzz_take(&input, lines.left, &lines.left);
	code.line_table = table = fuzz_copy(&lines);
	code.line_table_size = (uint32_t)lines.left;
	code.bytecode = bytecode = fuzz_copy(&input);
	code.bytecode_size = (uint32_t)input.left;
	call_site_table_init(&sites);
	/* Some 64 places: each costs as much as the code is long. */
	step = 2 * ((int)input.left / 128 + 1);
	for (int offset = -2; offset < (int)input.left + 4; offset += step) {
		fuzz_must(call_site_find(&sites, &code, offset, &site) == 0);
		fuzz_must(!site.in_loop || site.loop.start < site.loop.end);
		read_site(&sites, &site);
	}
	call_site_table_deinit(&sites);
	read_operands(&code);
	read_expressions(&code);
	free(bytecode);
	free(table);
	return 0;
}
