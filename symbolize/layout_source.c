/* SPDX-License-Identifier: Apache-2.0 */
#include "symbolize/layout_source.h"

bool layout_source_is_known(const struct layout_source *source)
{
	return source->module.known && (!source->has_debug || source->debug.known);
}

bool layout_source_same(const struct layout_source *a, const struct layout_source *b)
{
	return a->has_debug == b->has_debug && file_identity_same(&a->module, &b->module) &&
	       (!a->has_debug || file_identity_same(&a->debug, &b->debug));
}
