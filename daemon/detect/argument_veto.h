/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Why a call whose arguments look the same each time may be needed all the
 * same, as far as the bytecode around it tells. Pure.
 */
#ifndef PIEPROFD_DAEMON_DETECT_ARGUMENT_VETO_H
#define PIEPROFD_DAEMON_DETECT_ARGUMENT_VETO_H

#include "daemon/bytecode/call_site.h"

struct argument_veto {
	bool dropped;        /* nobody uses its result: it is called for its effect */
	bool result_changes; /* the loop stores into what its result was assigned to */
	/* it is assigned to a variable or attribute that an operand comes from: x = f(x) */
	bool result_replaces;
	bool operand_changes; /* the loop stores into one of its operands */
	bool multiplied;      /* its result is an operand of a product: f(x) @ y */
	bool takes_item;      /* of its result one item is taken, at a constant index: f(x)[0] */
	/* Of its result nothing but slices or single items are taken, at once or by way of a
	 * local variable: f(x)[:10], f(x)[:, :n] */
	bool takes_part;
};

/* The bytecode is that of the site's code. */
struct argument_veto argument_veto_find(const struct bytecode *bytecode,
					const struct call_site *site);

#endif
