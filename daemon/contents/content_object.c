/* SPDX-License-Identifier: Apache-2.0 */
/* Objects of fixed fields: other objects, plain bytes, decimals, dates. */
#include "daemon/contents/fingerprint_internal.h"

enum {
	/* PyFunctionObject */
	FUNCTION_FIRST_MINOR = 10,
	FUNCTION_OLD_CODE = 16,
	FUNCTION_OLD_DEFAULTS = 32,
	FUNCTION_OLD_CLOSURE = 48,
	FUNCTION_CODE = 48,
	FUNCTION_DEFAULTS = 56,
	FUNCTION_CLOSURE = 72,
	HAS_ZONE = 24, /* of datetime.time and datetime.datetime */
	TIME_ZONE = 32,
	DATETIME_ZONE = 40,
	/* mpd_t of libmpdec behind a hash */
	DECIMAL_FLAGS = 24,
	DECIMAL_EXPONENT = 32,
	DECIMAL_DIGITS = 40,
	DECIMAL_LENGTH = 48,
	DECIMAL_ALLOCATED = 56,
	DECIMAL_DATA = 64,
	DECIMAL_FLAG_MASK = 0x0f, /* the sign, and what is no number; not who owns the words */
	DECIMAL_DIGITS_A_WORD = 19,
	DECIMAL_WORDS_MAX = 1 << 16,
};

/* What the rule says of an object; its other objects are added by content.c. */
void content_parse_fields(struct fingerprints *set, struct content_node *node,
			  const struct memory_range *ranges, size_t count)
{
	const struct content_rule *rule = content_type_of(set, node)->rule;

	(void)ranges;
	(void)count;
	if (rule->raw_to > rule->raw_from)
		node->own = content_mix_bytes(node->own, node->head + rule->raw_from,
					      (size_t)(rule->raw_to - rule->raw_from));
	/* One that has nothing is told apart by what it is. */
	if (node->kind == CONTENT_OBJECT && !node->child_count)
		node->own = hash_combine(node->own, node->object);
	content_done(node);
}

/* Made anew each time, a lambda has other objects and the same code; defaults and variables of the
 * function around tell it apart. */
void content_parse_function(struct fingerprints *set, struct content_node *node,
			    const struct memory_range *ranges, size_t count)
{
	bool old = set->minor < FUNCTION_FIRST_MINOR;
	uint64_t closure = content_word(node, FUNCTION_OLD_CLOSURE);
	uint64_t defaults = content_word(node, old ? FUNCTION_OLD_DEFAULTS : FUNCTION_DEFAULTS);

	if (node->stage == STAGE_CONTENT) {
		node->own = hash_combine(
			node->own, content_word(node, old ? FUNCTION_OLD_CODE : FUNCTION_CODE));
		if (!old) {
			content_request(set, node, node->object + FUNCTION_CLOSURE, 8, true);
			node->stage = STAGE_SECOND;
			return;
		}
	} else if (!count || ranges[0].error) {
		content_opaque(node);
		return;
	} else {
		closure = content_word_of(&ranges[0], 0);
	}
	if (node->depth == 0 && (closure || defaults)) {
		content_beyond(node);
	} else {
		if (closure)
			content_child(set, node, closure);
		if (defaults)
			content_child(set, node, defaults);
	}
	content_done(node);
}

/* datetime.time and datetime.datetime: bytes, and a zone when one is set. */
void content_parse_date(struct fingerprints *set, struct content_node *node,
			const struct memory_range *ranges, size_t count)
{
	const struct content_rule *rule = content_type_of(set, node)->rule;

	if (node->head[HAS_ZONE])
		content_child(set, node,
			      content_word(node, rule->size < 48 ? TIME_ZONE : DATETIME_ZONE));
	content_parse_fields(set, node, ranges, count);
}

void content_parse_decimal(struct fingerprints *set, struct content_node *node,
			   const struct memory_range *ranges, size_t count)
{
	uint64_t digits = content_word(node, DECIMAL_DIGITS);
	uint64_t length = content_word(node, DECIMAL_LENGTH);
	uint8_t flags = node->head[DECIMAL_FLAGS] & DECIMAL_FLAG_MASK;

	if (node->stage != STAGE_CONTENT) {
		content_mix_ranges(node, ranges, count);
		return;
	}
	node->own = hash_combine(hash_combine(node->own, flags), digits);
	node->own = hash_combine(node->own, content_word(node, DECIMAL_EXPONENT));
	if (length > DECIMAL_WORDS_MAX || length > content_word(node, DECIMAL_ALLOCATED) ||
	    digits > length * DECIMAL_DIGITS_A_WORD ||
	    (length && digits <= (length - 1) * DECIMAL_DIGITS_A_WORD && flags < 2)) {
		content_opaque(node);
		return;
	}
	content_request_bytes(set, node, content_word(node, DECIMAL_DATA), 8 * length,
			      STAGE_SECOND);
}
