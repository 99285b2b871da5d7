/* SPDX-License-Identifier: Apache-2.0 */
/* Calls that are needed whatever their arguments are, as far as names tell. */
#ifndef PIEPROFD_DAEMON_REPORT_MODEL_ARGUMENT_NEEDED_H
#define PIEPROFD_DAEMON_REPORT_MODEL_ARGUMENT_NEEDED_H

#include "daemon/report/model/argument_words.h"

/*
 * The site's call, or at_entry each of its function: nobody would keep its result.
 * names_constant: its operands are constants of the program.
 */
bool argument_needed_call(const struct argument_words *words, bool at_entry, bool names_constant);

/* Some call of an expression that was computed before (bytecode/common_subexpression.h), of which
 * the site is part, has another outcome each time, or changes what it is given; or its name is not
 * known. */
bool argument_needed_common(const struct argument_words *words);

/* The site's function calls what is seen outside of the program, or comes from there. */
bool argument_needed_acts(const struct argument_words *words);

#endif
