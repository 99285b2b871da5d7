/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Code objects as real interpreters compile them, for tests of what reads
 * bytecode: source text in, struct python_code out, with the instructions as
 * the interpreter's own dis module lists them.
 */
#ifndef PIEPROFD_TESTS_UNIT_COMPILED_PYTHON_H
#define PIEPROFD_TESTS_UNIT_COMPILED_PYTHON_H

#include "pyintrospect/code_object.h"
#include "support_live.h"

#define COMPILED_CODES_MAX        32
#define COMPILED_INSTRUCTIONS_MAX 1024

struct compiled_instruction {
	int offset;
	long argument; /* -1: none */
	int target;    /* of a jump, else -1 */
	char name[40];
};

#define COMPILED_NAMES_MAX 64

struct compiled_code {
	struct python_code code; /* owns what it points to */
	/* co_names; local variables as the instructions count them; to 3.10 also cells. */
	char names[3][COMPILED_NAMES_MAX][40];
	struct compiled_instruction instructions[COMPILED_INSTRUCTIONS_MAX];
	size_t instruction_count;
};

struct compiled_python {
	struct compiled_code *codes;
	size_t count;
};

static const char compiled_script[] =
	"import dis, sys, types\n"
	"def show(code):\n"
	"    table = getattr(code, 'co_linetable', None) if sys.version_info >= (3, 10) else "
	"code.co_lnotab\n"
	"    print('C', getattr(code, 'co_qualname', code.co_name), code.co_firstlineno,\n"
	"          code.co_code.hex(), table.hex() or '-')\n"
	"    cells = code.co_cellvars + code.co_freevars\n"
	"    variables = code.co_varnames\n"
	"    if sys.version_info >= (3, 11):\n"
	"        variables += tuple(c for c in cells if c not in variables)\n"
	"        cells = ()\n"
	"    for kind, names in enumerate((code.co_names, variables, cells)):\n"
	"        for index, name in enumerate(names):\n"
	"            print('N', kind, index, name)\n"
	"    for i in dis.get_instructions(code):\n"
	"        if i.opname in ('EXTENDED_ARG', 'CACHE'):\n"
	"            continue\n"
	"        jump = i.opcode in dis.hasjrel or i.opcode in dis.hasjabs\n"
	"        print('I', i.offset, -1 if i.arg is None else i.arg, i.argval if jump else -1, "
	"i.opname)\n"
	"    for constant in code.co_consts:\n"
	"        if isinstance(constant, types.CodeType):\n"
	"            show(constant)\n"
	"show(compile(sys.stdin.read(), '/project/program.py', 'exec'))\n";

LIVE_UNUSED uint8_t *compiled_bytes(const char *hex, uint32_t *ret_size)
{
	size_t size = hex[0] == '-' ? 0 : strlen(hex) / 2;
	uint8_t *bytes = calloc(size + 1, 1);
	unsigned value;

	for (size_t i = 0; i < size; i++) {
		if (sscanf(hex + 2 * i, "%2x", &value) != 1)
			abort();
		bytes[i] = (uint8_t)value;
	}
	*ret_size = (uint32_t)size;
	return bytes;
}

LIVE_UNUSED void compiled_python_free(struct compiled_python *compiled)
{
	for (size_t i = 0; i < compiled->count; i++) {
		free((void *)(uintptr_t)compiled->codes[i].code.function);
		free((void *)(uintptr_t)compiled->codes[i].code.line_table);
		free((void *)(uintptr_t)compiled->codes[i].code.bytecode);
	}
	free(compiled->codes);
	*compiled = (struct compiled_python){ 0 };
}

/* Aborts when the interpreter does not do its part: it was found by running it. */
LIVE_UNUSED struct compiled_python compiled_python(const struct live_python *python,
						   const char *source)
{
	struct compiled_python compiled = { 0 };
	char path[] = "/tmp/pieprofd-test-XXXXXX", command[PATH_MAX + 128];
	int fd = mkstemp(path);
	size_t line_size = 0;
	char *line = NULL;
	FILE *file, *pipe;

	if (fd < 0 || !(file = fdopen(fd, "w")) ||
	    !(compiled.codes = calloc(COMPILED_CODES_MAX, sizeof(*compiled.codes))))
		abort();
	/* The program comes on stdin, behind the script that compiles it. */
	fputs(compiled_script, file);
	fclose(file);
	setenv("PIEPROFD_TEST_SOURCE", source, 1);
	snprintf(command, sizeof(command), "printf '%%s' \"$PIEPROFD_TEST_SOURCE\" | '%s' -I %s",
		 python->path, path);
	pipe = popen(command, "r");
	if (!pipe)
		abort();
	while (getline(&line, &line_size, pipe) > 0) {
		struct compiled_code *code = &compiled.codes[compiled.count];
		char *name, *bytecode, *table;
		int first_line;

		if (line[0] == 'C') {
			if (compiled.count == COMPILED_CODES_MAX ||
			    sscanf(line, "C %ms %d %ms %ms", &name, &first_line, &bytecode,
				   &table) != 4)
				abort();
			code->code = (struct python_code){
				.function = name,
				.file = "/project/program.py",
				.first_line = first_line,
				.id = (uint32_t)compiled.count++,
				.minor = python->minor,
			};
			code->code.bytecode = compiled_bytes(bytecode, &code->code.bytecode_size);
			code->code.line_table = compiled_bytes(table, &code->code.line_table_size);
			free(bytecode);
			free(table);
		} else if (line[0] == 'N' && compiled.count) {
			unsigned kind, index;
			char text[40];

			if (sscanf(line, "N %u %u %39s", &kind, &index, text) != 3 || kind > 2 ||
			    index >= COMPILED_NAMES_MAX)
				abort();
			memcpy(code[-1].names[kind][index], text, sizeof(text));
		} else if (line[0] == 'I' && compiled.count) {
			struct compiled_instruction *instruction;

			code--;
			if (code->instruction_count == COMPILED_INSTRUCTIONS_MAX)
				abort();
			instruction = &code->instructions[code->instruction_count++];
			if (sscanf(line, "I %d %ld %d %39s", &instruction->offset,
				   &instruction->argument, &instruction->target,
				   instruction->name) != 4)
				abort();
		}
	}
	free(line);
	unlink(path);
	if (pclose(pipe) || !compiled.count)
		abort();
	return compiled;
}

/* By name; aborts when the program has no such function. */
LIVE_UNUSED const struct compiled_code *compiled_function(const struct compiled_python *compiled,
							  const char *name)
{
	for (size_t i = 0; i < compiled->count; i++)
		if (strcmp(compiled->codes[i].code.function, name) == 0)
			return &compiled->codes[i];
	abort();
}

/* Offset of the n-th instruction (from 0) on a line whose name starts so; -1: none. */
LIVE_UNUSED int compiled_offset(const struct compiled_code *code, int line, const char *name,
				size_t n)
{
	for (size_t i = 0; i < code->instruction_count; i++) {
		const struct compiled_instruction *instruction = &code->instructions[i];

		if (strncmp(instruction->name, name, strlen(name)) == 0 &&
		    python_code_line(&code->code, instruction->offset) == line && n-- == 0)
			return instruction->offset;
	}
	return -1;
}

#endif
