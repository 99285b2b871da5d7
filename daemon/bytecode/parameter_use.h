/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a function reads of one of its parameters: nothing, a few attributes, or who knows
 * what. A method's result can only depend on the attributes of self that it names,
 * while its object changes elsewhere all the time. Pure.
 */
#ifndef PIEPROFD_DAEMON_BYTECODE_PARAMETER_USE_H
#define PIEPROFD_DAEMON_BYTECODE_PARAMETER_USE_H

#include "daemon/bytecode/bytecode.h"

#include <stdbool.h>

#define PARAMETER_ATTRIBUTES_MAX 8

struct parameter_use {
	bool whole;     /* it is passed on, assigned, captured ... */
	uint32_t count; /* else: attributes and methods that are loaded from it; 0: it is not used
			 */
	uint32_t names[PARAMETER_ATTRIBUTES_MAX]; /* indices in PYTHON_NAMES, each once */
};

struct parameter_use parameter_use_of(const struct bytecode *bytecode, unsigned parameter);

#endif
