/* SPDX-License-Identifier: Apache-2.0 */
/* Structure layouts, symbols and sections of one module: the debug_info of common/, over libdw. */
#ifndef PIEPROFD_SYMBOLIZE_STRUCT_LAYOUT_H
#define PIEPROFD_SYMBOLIZE_STRUCT_LAYOUT_H

#include "common/debug_info.h"
#include "symbolize/module.h"
#include "symbolize/symbol.h"

struct struct_layout;

/* symbolizer and module are borrowed. DWARF is opened on the first question about a type. */
struct struct_layout *struct_layout_create(struct symbolizer *symbolizer,
					   const struct module *module);
void struct_layout_destroy(struct struct_layout *layout);

/* The interface to hand to pyintrospect; valid as long as layout is. */
struct debug_info struct_layout_debug_info(struct struct_layout *layout);

#endif
