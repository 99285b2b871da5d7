/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/detect/used_attributes.h"

#include "pyintrospect/code_names.h"

#include <stdlib.h>

#define CODES_KEPT      256
#define PARAMETERS_KEPT 6
/* A stop waits for it: functions that are longer are taken to use all. */
#define BYTECODE_SIZE_MAX 4096

struct used_code {
	const struct python_code *code;
	struct used_parameter parameters[PARAMETERS_KEPT];
};

struct used_attributes {
	const struct python_runtime *runtime;
	struct used_code codes[CODES_KEPT];
};

struct used_attributes *used_attributes_create(const struct python_runtime *runtime)
{
	struct used_attributes *used = calloc(1, sizeof(*used));

	if (used)
		used->runtime = runtime;
	return used;
}

void used_attributes_destroy(struct used_attributes *used)
{
	free(used);
}

static struct used_parameter find_parameter(const struct code_names *names,
					    const struct bytecode *bytecode, unsigned number)
{
	struct parameter_use use = parameter_use_of(bytecode, number);
	struct used_parameter used = { .whole = use.whole, .count = use.count };

	for (uint32_t i = 0; i < use.count && !used.whole; i++)
		if (code_names_address(names, PYTHON_NAMES, use.names[i], &used.names[i]))
			used.whole = true;
	return used;
}

static void find_parameters(const struct used_attributes *used, struct used_code *found)
{
	const struct python_code *code = found->code;
	struct bytecode bytecode;
	struct code_names names;
	bool known = code->bytecode_size <= BYTECODE_SIZE_MAX &&
		     !code_names_find(used->runtime, code, &names) &&
		     !bytecode_init(&bytecode, code);

	for (unsigned i = 0; i < PARAMETERS_KEPT; i++)
		found->parameters[i] = known && i < code->argument_count
					       ? find_parameter(&names, &bytecode, i)
					       : (struct used_parameter){ .whole = true };
	if (known)
		bytecode_deinit(&bytecode);
}

const struct used_parameter *used_parameter(struct used_attributes *used,
					    const struct python_code *code, size_t number)
{
	struct used_code *found;

	if (!code || number >= PARAMETERS_KEPT)
		return NULL;
	found = &used->codes[code->id % CODES_KEPT];
	if (found->code != code) {
		found->code = code;
		find_parameters(used, found);
	}
	return found->parameters[number].whole ? NULL : &found->parameters[number];
}
