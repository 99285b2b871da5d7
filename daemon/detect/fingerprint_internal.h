/* SPDX-License-Identifier: Apache-2.0 */
/* What fingerprint.c and content.c share. */
#ifndef PIEPROFD_DAEMON_DETECT_FINGERPRINT_INTERNAL_H
#define PIEPROFD_DAEMON_DETECT_FINGERPRINT_INTERNAL_H

#include "daemon/detect/content_kind.h"

#include <string.h>

#define CONTENT_NODES_MAX  384
#define CONTENT_RANGES_MAX 1024
#define CONTENT_TYPES_MAX  512
#define CONTENT_TYPE_NAME  40
/* Of an object: what each has, and what most have. */
#define CONTENT_HEAD_SHORT 16
#define CONTENT_HEAD_SIZE  72
#define CONTENT_DIMENSIONS 4 /* of an array that are shown */

/* Words behind the head of an object. */
enum {
	FIELD_1 = 16,
	FIELD_2 = 24,
	FIELD_3 = 32,
	FIELD_4 = 40,
	FIELD_5 = 48,
	FIELD_6 = 56,
};

/* No size that is larger. */
#define CONTENT_SIZE_BELIEVED (1ull << 44)

enum content_stage {
	STAGE_NEW,
	STAGE_HEAD,
	STAGE_TYPE,
	STAGE_NAME,
	STAGE_CONTENT, /* from here on it is content.c's */
	STAGE_SECOND,
	STAGE_THIRD,
	STAGE_DONE,
};

struct content_type {
	remote_addr address;
	uint64_t basic_size, flags;
	char name[CONTENT_TYPE_NAME];
	uint8_t kind;
};

struct content_node {
	remote_addr object, type_address;
	uint64_t own; /* number of its own contents, without its items' */
	uint64_t size;
	uint64_t type_basic_size, type_flags;
	int64_t dimensions[CONTENT_DIMENSIONS];
	uint64_t place; /* for content.c, from one stage to the next */
	uint32_t item_size;
	uint16_t type; /* number + 1; 0: not known */
	uint16_t first_child, child_count;
	uint16_t next_range, range_count; /* asked for in this round */
	uint8_t stage, kind, depth, dimension_count;
	char element; /* of an array: 'f', 'i', ... */
	bool head_whole, partial, opaque;
	bool refused; /* there was no room for something that it asked for */
	uint8_t head[CONTENT_HEAD_SIZE];
};

struct fingerprints {
	int minor;
	unsigned turn; /* which of the two is this round's */
	size_t range_count[2], node_count, root_count, arena_used, bytes_used;
	uint16_t type_count;
	struct memory_range ranges[2][CONTENT_RANGES_MAX];
	struct content_node nodes[CONTENT_NODES_MAX];
	struct content_type types[CONTENT_TYPES_MAX];
	/* Types take what contents may not. */
	uint8_t arena[2 * FINGERPRINT_BYTES_MAX];
};

static inline uint64_t content_word(const struct content_node *node, size_t offset)
{
	uint64_t value;

	memcpy(&value, node->head + offset, sizeof(value));
	return value;
}

static inline uint64_t content_word_of(const struct memory_range *range, size_t offset)
{
	uint64_t value;

	memcpy(&value, (const uint8_t *)range->buffer + offset, sizeof(value));
	return value;
}

static inline void content_done(struct content_node *node)
{
	node->stage = STAGE_DONE;
}

/* fingerprint.c */
uint64_t content_mix(uint64_t hash, uint64_t word);
uint64_t content_mix_bytes(uint64_t hash, const uint8_t *bytes, size_t size);
/* False, and the node is partial, when there is no room. */
bool content_request(struct fingerprints *set, struct content_node *node, remote_addr address,
		     size_t size, bool counted);
bool content_child(struct fingerprints *set, struct content_node *node, remote_addr object);
void content_by_identity(struct content_node *node, enum content_kind kind);
const struct content_type *content_type_of(const struct fingerprints *set,
					   const struct content_node *node);

/* content.c. basic_size: 0 of a type that a program made. */
enum content_kind content_kind_of(const char *type, uint64_t basic_size, bool metatype);
/* STAGE_CONTENT first without ranges, then with those that were asked for. */
void content_parse(struct fingerprints *set, struct content_node *node,
		   const struct memory_range *ranges, size_t count);
/* Asks for contents in one piece of memory: all of it, or pieces spread over it. */
void content_request_bytes(struct fingerprints *set, struct content_node *node, remote_addr address,
			   uint64_t size, enum content_stage next);
/* The last thing that an object does: all that was read is its number. */
void content_mix_ranges(struct content_node *node, const struct memory_range *ranges, size_t count);
void content_describe(const struct fingerprints *set, const struct content_node *node, char *text,
		      size_t size);

/* content_array.c */
void content_parse_array(struct fingerprints *set, struct content_node *node,
			 const struct memory_range *ranges, size_t count);
void content_describe_array(const struct content_node *node, char *text, size_t size);

#endif
