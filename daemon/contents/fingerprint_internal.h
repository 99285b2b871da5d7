/* SPDX-License-Identifier: Apache-2.0 */
/* What fingerprint.c and the files of contents share. */
#ifndef PIEPROFD_DAEMON_CONTENTS_FINGERPRINT_INTERNAL_H
#define PIEPROFD_DAEMON_CONTENTS_FINGERPRINT_INTERNAL_H

#include "common/hash.h"
#include "daemon/contents/content_kind.h"
#include "pyintrospect/dict_layout.h"

#include <string.h>

#define CONTENT_NODES_MAX  864
#define CONTENT_RANGES_MAX 2048
/* Of each object that is asked for, whatever the others are: what is compared of a large one is
 * always the same. */
#define CONTENT_ROOT_NODES_MAX 288 /* parts of it */
#define CONTENT_ROOT_BYTES_MAX (12u << 10)
#define CONTENT_TYPES_MAX      1024
#define CONTENT_TYPE_SLOTS     2048 /* of a table of their addresses */
#define CONTENT_CHECKS_MAX     64   /* types that are looked at again in a stop */
#define CONTENT_NAMES_MAX      512  /* of attributes that were looked at */
#define CONTENT_ROUNDS_MAX     32
#define CONTENT_SKETCH_ITEMS   8  /* of a container, that its sketch is of */
#define CONTENT_LEVELS_MAX     16 /* objects in objects, whatever their depth */
/* Types take what contents may not. */
#define CONTENT_ARENA_SIZE (3 * FINGERPRINT_BYTES_MAX)
#define CONTENT_TYPE_NAME  48
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
	STAGE_TYPE,    /* its type is not known yet */
	STAGE_CONTENT, /* from here on it is the content files' */
	STAGE_SECOND,
	STAGE_THIRD,
	STAGE_FOURTH,
	STAGE_FIFTH,
	STAGE_SIXTH,
	STAGE_DONE,
};

enum content_type_stage {
	TYPE_NEW,
	TYPE_HEAD,
	TYPE_NAME,
	TYPE_SLOT_NAMES,
	TYPE_WAITS, /* for its base */
	TYPE_SETTLED,
	TYPE_REFUSED, /* there was no room in this stop */
};

struct fingerprints;
struct content_node;

/* STAGE_CONTENT first without ranges, then with those that were asked for. */
typedef void content_parser(struct fingerprints *set, struct content_node *node,
			    const struct memory_range *ranges, size_t count);

/* How instances of a type lie in memory. */
struct content_rule {
	const char *name;
	uint8_t kind;
	uint8_t raw_from, raw_to; /* bytes that are plain contents */
	uint16_t size;            /* at least; 0: any */
	uint32_t objects;         /* words that are: bit 0 is the first behind the head */
	content_parser *parse;    /* NULL: by the kind, or the fields above */
	bool partial;             /* there is more in it than is compared */
};

struct content_type {
	remote_addr address, name_address, members, base_address, meta_address;
	uint64_t basic_size, item_size, flags, member_count;
	int64_t dict_offset, weak_offset;
	/* Words that its program's classes made objects: bit 0 is the first behind the head. */
	uint64_t slots, ignored;
	uint64_t root_size; /* of what rule is for */
	const struct content_rule *rule;
	remote_addr keys_address; /* of those that its instances share, as they were found last */
	struct dict_keys keys;
	char name[CONTENT_TYPE_NAME];
	uint32_t checked;    /* the stop in which it was last looked at */
	uint16_t base, meta; /* number + 1; 0: not known */
	uint16_t next_range, range_count;
	uint8_t stage, kind, level, capacity;
	bool program, attributes, stale;
	bool derived;  /* from what rule is for */
	bool filtered; /* has caches among its attributes */
};

struct content_node {
	remote_addr object, type_address;
	uint64_t own; /* number of its own contents, without its items' */
	uint64_t tag; /* goes into the number of what it is in, where there is no order */
	uint64_t size;
	uint64_t sketch; /* a set's (content_kind.h) */
	int64_t dimensions[CONTENT_DIMENSIONS];
	uint64_t place; /* for the content files, from one stage to the next */
	remote_addr keys, values;
	uint32_t entries_at, values_at, counted; /* in the arena */
	uint32_t item_size;
	uint16_t type;                                        /* number + 1; 0: not known */
	uint16_t parent, first_child, last_child, next_child; /* number + 1 */
	uint16_t child_count;
	uint16_t next_range, range_count; /* asked for in this round */
	uint8_t stage, kind, depth, level, root, dimension_count;
	char element; /* of an array: 'f', 'i', ... */
	bool partial, opaque, hashed;
	bool spread;       /* if it is partial: what was taken lies all over it */
	bool nested;       /* in an object: it gets less */
	bool chosen;       /* attributes: some alone count, and it has them */
	bool refused;      /* there was no room for something that it asked for */
	uint8_t head_size; /* bytes of it that could be read; the others are 0 */
	uint8_t head[CONTENT_HEAD_SIZE];
};

enum {
	OBJECT_HEAD = 16,
	SLOT_WORDS = 64, /* of an object behind its head: more are not looked at */
};

/* Of one of the objects asked for, the attributes that count alone; count 0: all. Numbers below
 * SLOT_WORDS are slots. */
struct content_choice {
	const remote_addr *names; /* borrowed */
	size_t count;
};

/* The name of an attribute, by its address: they are interned. */
struct content_name {
	remote_addr address;
	bool cache;
};

struct fingerprints {
	int minor;
	unsigned turn; /* which of the two is this round's */
	unsigned round;
	uint32_t stop;
	bool call_begins;
	size_t range_count[2], node_count, root_count, arena_used, bytes_used;
	size_t root_bytes[FINGERPRINT_OBJECTS_MAX], root_nodes[FINGERPRINT_OBJECTS_MAX];
	struct content_choice choices[FINGERPRINT_OBJECTS_MAX];
	uint16_t type_count, unsettled; /* types before that number are settled */
	uint16_t check_count, checks[CONTENT_CHECKS_MAX];
	struct memory_range ranges[2][CONTENT_RANGES_MAX];
	struct content_node nodes[CONTENT_NODES_MAX];
	struct content_type types[CONTENT_TYPES_MAX];
	uint16_t type_slots[CONTENT_TYPE_SLOTS];
	struct content_name names[CONTENT_NAMES_MAX];
	uint8_t arena[CONTENT_ARENA_SIZE];
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

static inline bool content_plausible(remote_addr address)
{
	return address % 8 == 0 && address >= 4096 && address < 1ull << 47;
}

/* fingerprint.c */
uint64_t content_mix_bytes(uint64_t hash, const uint8_t *bytes, size_t size);
/* False, and the node is partial, when there is no room. */
bool content_request(struct fingerprints *set, struct content_node *node, remote_addr address,
		     size_t size, bool counted);
/* NULL when there is no room, or the object is too deep. */
struct content_node *content_child(struct fingerprints *set, struct content_node *node,
				   remote_addr object);
void content_by_identity(struct content_node *node, enum content_kind kind);
/* What is odd is like nothing else. */
void content_opaque(struct content_node *node);
/* There was no room to look into it, or it lies too deep: which object it is counts. */
void content_beyond(struct content_node *node);
const struct content_type *content_type_of(const struct fingerprints *set,
					   const struct content_node *node);

/* content_type.c: what is known of types */
/* Number + 1; 0: there are too many. */
uint16_t content_type_find(struct fingerprints *set, remote_addr address, unsigned level);
void content_types_begin(struct fingerprints *set);
/* Looks at what was asked for in the last round, and asks for more. */
void content_types_advance(struct fingerprints *set, const struct memory_range *last);
/* Those that have not begun. */
void content_types_start(struct fingerprints *set);
/* When nothing more will be read. True: there were some. */
bool content_types_force(struct fingerprints *set);
/* Programs make and forget types: asks whether it is still the same. */
void content_type_check(struct fingerprints *set, uint16_t type);

/* content_rule.c: how instances of named types lie in memory */
/* NULL: not one that is known. */
const struct content_rule *content_rule_find(const struct content_type *type);

/* content.c */
content_parser content_parse;
/* Asks for contents in one piece of memory: all of it, or pieces spread over it. */
void content_request_bytes(struct fingerprints *set, struct content_node *node, remote_addr address,
			   uint64_t size, enum content_stage next);
/* The last thing that an object does: all that was read is its number. */
void content_mix_ranges(struct content_node *node, const struct memory_range *ranges, size_t count);
/* The first items of so many in a row, and some of the others: their addresses. */
void content_request_items(struct fingerprints *set, struct content_node *node, remote_addr items,
			   uint64_t count);
void content_add_items(struct fingerprints *set, struct content_node *node,
		       const struct memory_range *ranges, size_t count);
void content_describe(const struct fingerprints *set, const struct content_node *node, char *text,
		      size_t size);

/* content_array.c */
content_parser content_parse_array;
content_parser content_parse_dtype;
/* Of the node's dimensions and item size; strides in bytes. The stage is the caller's. */
void content_request_elements(struct fingerprints *set, struct content_node *node, remote_addr data,
			      const uint64_t *lengths, const uint64_t *strides);
/* Where its contents begin, if it is part of another one; else 0. */
remote_addr content_array_part(const struct content_node *node);
void content_describe_array(const struct fingerprints *set, const struct content_node *node,
			    char *text, size_t size);

/* content_attributes.c */
/* As a child of the object that has them. */
void content_add_attributes(struct fingerprints *set, struct content_node *node);
content_parser content_parse_attributes;
bool content_name_is_cache(const char *name);

/* content_object.c: fields that are objects, and plain bytes */
content_parser content_parse_fields;
content_parser content_parse_function;
content_parser content_parse_date;
content_parser content_parse_decimal;

/* content_container.c */
content_parser content_parse_set;
content_parser content_parse_deque;
content_parser content_parse_array_array;
content_parser content_parse_memoryview;

/* content_key.c */
/* All that counts of an object are attributes that could be keys. */
bool content_is_keyed(const struct fingerprints *set, const struct content_node *node);

/* Of a container's sketch: which bit stands for an item. */
static inline uint64_t content_sketch_bit(uint64_t item)
{
	return 1ull << (hash_mix(item) >> 58);
}

/* content_generator.c */
content_parser content_parse_generator;

/* content_pandas.c */
content_parser content_parse_placement;
bool content_describe_frame(const struct fingerprints *set, const struct content_node *node,
			    char *text, size_t size);

/* content_arrow.c */
content_parser content_parse_arrow;

/* content_tensor.c */
content_parser content_parse_tensor;

#endif
