/* SPDX-License-Identifier: Apache-2.0 */
/* What could be a key of a cache. */
#include "daemon/contents/fingerprint_internal.h"

static bool is_key(const struct fingerprints *set, const struct content_node *node)
{
	switch (node->kind) {
	case CONTENT_NONE:
	case CONTENT_BOOL:
	case CONTENT_INT:
	case CONTENT_FLOAT:
	case CONTENT_COMPLEX:
	case CONTENT_STR:
	case CONTENT_BYTES:
	case CONTENT_CONSTANT:
	case CONTENT_VALUE:
		return true;
	case CONTENT_TUPLE:
	case CONTENT_FROZENSET:
	case CONTENT_ATTRIBUTES:
		for (size_t i = node->first_child; i; i = set->nodes[i - 1].next_child)
			if (!is_key(set, &set->nodes[i - 1]))
				return false;
		return true;
	default:
		return false;
	}
}

bool content_is_keyed(const struct fingerprints *set, const struct content_node *node)
{
	const struct content_node *attributes =
		node->child_count == 1 ? &set->nodes[node->first_child - 1] : NULL;

	return node->kind == CONTENT_OBJECT && attributes &&
	       attributes->kind == CONTENT_ATTRIBUTES && attributes->chosen &&
	       is_key(set, attributes);
}
