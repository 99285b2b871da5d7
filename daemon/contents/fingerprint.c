/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A tree of objects, those of begin() first, items behind what they are in.
 * Every round each object looks at what it asked for, and asks for more:
 *
 *   head -> type -> contents -> ... -> done
 *
 * Types are read beside them, once (content_type.c); objects wait for theirs.
 * At the end numbers are made from the last object to the first.
 */
#include "daemon/contents/fingerprint.h"

#include "daemon/contents/fingerprint_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OBJECT_TYPE 8
#define PAGE_BYTES  4096
/* Of a container that there was no room for, so many items say what the others are like. */
#define ITEMS_KNOWN_MIN 2

struct fingerprints *fingerprints_create(int minor)
{
	struct fingerprints *set = calloc(1, sizeof(*set));

	if (set)
		set->minor = minor;
	return set;
}

void fingerprints_destroy(struct fingerprints *set)
{
	free(set);
}

uint64_t content_mix_bytes(uint64_t hash, const uint8_t *bytes, size_t size)
{
	for (size_t at = 0; at < size; at += sizeof(uint64_t)) {
		uint64_t word = 0;
		size_t left = size - at;

		memcpy(&word, bytes + at, left < sizeof(word) ? left : sizeof(word));
		hash = hash_combine(hash, word);
	}
	return hash_combine(hash, size);
}

const struct content_type *content_type_of(const struct fingerprints *set,
					   const struct content_node *node)
{
	return node->type ? &set->types[node->type - 1] : NULL;
}

bool content_request(struct fingerprints *set, struct content_node *node, remote_addr address,
		     size_t size, bool counted)
{
	struct memory_range *ranges = set->ranges[set->turn];
	size_t room = sizeof(set->arena) - set->arena_used;

	if (size == 0)
		return true;
	if (size > room || set->range_count[set->turn] == CONTENT_RANGES_MAX ||
	    (counted &&
	     (size > FINGERPRINT_BYTES_MAX - set->bytes_used ||
	      (node->level && set->root_bytes[node->root] + size > CONTENT_ROOT_BYTES_MAX)))) {
		node->partial = node->refused = true;
		return false;
	}
	if (!node->range_count)
		node->next_range = (uint16_t)set->range_count[set->turn];
	ranges[set->range_count[set->turn]++] = (struct memory_range){
		.address = address,
		.buffer = set->arena + set->arena_used,
		.size = size,
		.error = -1,
	};
	node->range_count++;
	set->arena_used += size;
	if (counted) {
		set->bytes_used += size;
		set->root_bytes[node->root] += size;
	}
	return true;
}

/* How far up the object is that it is in; 0: it is not in itself. */
static unsigned distance_up(const struct fingerprints *set, const struct content_node *node,
			    remote_addr object)
{
	unsigned distance = 1;

	for (; node; node = node->parent ? &set->nodes[node->parent - 1] : NULL, distance++)
		if (node->object == object && node->kind != CONTENT_ATTRIBUTES)
			return distance;
	return 0;
}

/* What a library's objects are made of is no deeper than these. */
static uint8_t child_depth(const struct fingerprints *set, const struct content_node *node)
{
	const struct content_type *type = content_type_of(set, node);

	if (!node->depth || (type && type->filtered) ||
	    (type && node->kind == CONTENT_OBJECT && type->rule && type->rule->objects))
		return node->depth;
	return (uint8_t)(node->depth - 1);
}

/* Its children are of one sort, as far as can be told: what some are like says it of the others. */
static bool holds_items(const struct content_node *node)
{
	switch (node->kind) {
	case CONTENT_TUPLE:
	case CONTENT_LIST:
	case CONTENT_DICT:
	case CONTENT_SET:
	case CONTENT_FROZENSET:
	case CONTENT_DEQUE:
		return true;
	default:
		return false;
	}
}

struct content_node *content_child(struct fingerprints *set, struct content_node *node,
				   remote_addr object)
{
	struct content_node *child;
	uint16_t number = (uint16_t)(set->node_count + 1);
	unsigned distance;

	if (set->node_count == CONTENT_NODES_MAX || node->level == CONTENT_LEVELS_MAX ||
	    set->root_nodes[node->root] >= CONTENT_ROOT_NODES_MAX) {
		node->partial = node->refused = true;
		node->opaque |= node->level == CONTENT_LEVELS_MAX;
		return NULL;
	}
	distance = distance_up(set, node, object);
	if (node->last_child)
		set->nodes[node->last_child - 1].next_child = number;
	else
		node->first_child = number;
	node->last_child = number;
	node->child_count++;
	child = &set->nodes[set->node_count++];
	set->root_nodes[node->root]++;
	*child = (struct content_node){
		.object = object,
		.parent = (uint16_t)(node - set->nodes + 1),
		.depth = child_depth(set, node),
		.level = (uint8_t)(node->level + 1),
		.root = node->root,
		.nested = node->nested || node->kind == CONTENT_ATTRIBUTES ||
			  node->kind == CONTENT_OBJECT,
	};
	if (distance) {
		child->own = hash_combine(0, distance);
		child->kind = CONTENT_LOOP;
		child->stage = STAGE_DONE;
	}
	return child;
}

void fingerprints_begin(struct fingerprints *set, const remote_addr *objects, size_t count,
			bool call_begins)
{
	set->call_begins = call_begins;
	set->node_count = set->root_count =
		count < FINGERPRINT_OBJECTS_MAX ? count : FINGERPRINT_OBJECTS_MAX;
	set->arena_used = set->bytes_used = 0;
	set->range_count[0] = set->range_count[1] = 0;
	set->stop++;
	set->round = 0;
	memset(set->root_bytes, 0, sizeof(set->root_bytes));
	memset(set->root_nodes, 0, sizeof(set->root_nodes));
	memset(set->choices, 0, sizeof(set->choices));
	content_types_begin(set);
	for (size_t i = 0; i < set->root_count; i++)
		set->nodes[i] = (struct content_node){ .object = objects[i],
						       .depth = FINGERPRINT_DEPTH,
						       .root = (uint8_t)i };
}

void fingerprints_only(struct fingerprints *set, size_t index, const remote_addr *names,
		       size_t count)
{
	if (index < set->root_count)
		set->choices[index] = (struct content_choice){ names, count };
}

bool fingerprint_slot_exists(uint64_t offset)
{
	return offset >= OBJECT_HEAD && offset % 8 == 0 && offset < OBJECT_HEAD + 8 * SLOT_WORDS;
}

/* Their numbers are no addresses. */
remote_addr fingerprint_slot(uint64_t offset)
{
	return (offset - OBJECT_HEAD) / 8;
}

static void finish(struct content_node *node, enum content_kind kind)
{
	node->kind = (uint8_t)kind;
	node->stage = STAGE_DONE;
}

/* The object's own part of the number when only its identity counts. */
void content_by_identity(struct content_node *node, enum content_kind kind)
{
	node->own = hash_combine(hash_combine(0, kind), node->object);
	node->opaque = kind == CONTENT_OTHER;
	finish(node, kind);
}

void content_opaque(struct content_node *node)
{
	node->partial = true;
	/* A part that there was no room for is one that was not looked into. */
	node->opaque |= !(node->refused && node->parent);
	node->own = hash_combine(node->own, node->object);
	node->stage = STAGE_DONE;
}

void content_beyond(struct content_node *node)
{
	node->partial = true;
	node->own = hash_combine(node->own, node->object);
}

static uint64_t word_at(const uint8_t *bytes, size_t offset)
{
	uint64_t word;

	memcpy(&word, bytes + offset, sizeof(word));
	return word;
}

/* Its contents, when its type is known. */
static void node_go_on(struct fingerprints *set, struct content_node *node)
{
	const struct content_type *type = &set->types[node->type - 1];

	if (type->stage == TYPE_REFUSED) {
		content_by_identity(node, CONTENT_OTHER);
	} else if (type->stage == TYPE_SETTLED) {
		content_type_check(set, node->type);
		node->stage = STAGE_CONTENT;
		content_parse(set, node, NULL, 0);
	} else {
		node->stage = STAGE_TYPE;
	}
}

/* An object may be the last one of its mapping, and shorter than most. */
static bool request_head(struct fingerprints *set, struct content_node *node)
{
	remote_addr rest = node->object + CONTENT_HEAD_SHORT;
	size_t size = CONTENT_HEAD_SIZE - CONTENT_HEAD_SHORT;
	size_t page = PAGE_BYTES - rest % PAGE_BYTES;

	if (page > size)
		page = size;
	return content_request(set, node, node->object, CONTENT_HEAD_SHORT, true) &&
	       content_request(set, node, rest, page, true) &&
	       content_request(set, node, rest + page, size - page, true);
}

/* The head and type of an object; contents are content_parse()'s. */
static void node_advance(struct fingerprints *set, struct content_node *node,
			 const struct memory_range *ranges, size_t count)
{
	switch (node->stage) {
	case STAGE_NEW:
		if (!content_plausible(node->object) || !request_head(set, node)) {
			node->own = hash_combine(0, node->object);
			/* Without room it is one that was not looked into. */
			node->opaque = node->object != 0 && !node->refused;
			finish(node, CONTENT_UNREADABLE);
			return;
		}
		node->stage = STAGE_HEAD;
		return;
	case STAGE_HEAD:
		if (count < 2 || ranges[0].error) {
			node->opaque = true;
			finish(node, CONTENT_UNREADABLE);
			return;
		}
		node->head_size = 0;
		for (size_t i = 0; i < count && !ranges[i].error; i++) {
			memcpy(node->head + node->head_size, ranges[i].buffer, ranges[i].size);
			node->head_size += (uint8_t)ranges[i].size;
		}
		node->type_address = word_at(node->head, OBJECT_TYPE);
		if (!content_plausible(node->type_address)) {
			node->opaque = true;
			finish(node, CONTENT_UNREADABLE);
			return;
		}
		node->type = content_type_find(set, node->type_address, 0);
		if (node->type)
			node_go_on(set, node);
		else
			content_by_identity(node, CONTENT_OTHER);
		return;
	case STAGE_TYPE:
		node_go_on(set, node);
		return;
	default:
		content_parse(set, node, ranges, count);
	}
}

static void advance_all(struct fingerprints *set, const struct memory_range *last)
{
	/* What is added on the way begins in this round, too. */
	for (size_t i = 0; i < set->node_count; i++) {
		struct content_node *node = &set->nodes[i];
		size_t first = node->next_range, count = node->range_count;

		if (node->stage == STAGE_DONE)
			continue;
		node->range_count = 0;
		node_advance(set, node, last + first, count);
		if (node->stage == STAGE_DONE || node->stage == STAGE_TYPE || node->range_count)
			continue;
		/* It wanted nothing more; or there was no room, and only its identity is known. */
		node->stage = STAGE_DONE;
		if (node->refused)
			content_beyond(node);
	}
}

/* The target has waited long enough. */
static void give_up(struct fingerprints *set)
{
	for (size_t i = 0; i < set->node_count; i++)
		if (set->nodes[i].stage != STAGE_DONE) {
			content_beyond(&set->nodes[i]);
			content_done(&set->nodes[i]);
		}
}

size_t fingerprints_round(struct fingerprints *set, struct memory_range **ret_ranges)
{
	const struct memory_range *last = set->ranges[set->turn];

	set->turn = !set->turn;
	set->range_count[set->turn] = 0;
	if (set->round++ == CONTENT_ROUNDS_MAX) {
		give_up(set);
		return 0;
	}
	content_types_advance(set, last);
	advance_all(set, last);
	content_types_start(set);
	/* Types that wait for one another are none. */
	while (!set->range_count[set->turn] && content_types_force(set)) {
		advance_all(set, last);
		content_types_start(set);
	}
	*ret_ranges = set->ranges[set->turn];
	return set->range_count[set->turn];
}

static bool unordered(const struct content_node *node)
{
	return node->kind == CONTENT_ATTRIBUTES || node->kind == CONTENT_SET ||
	       node->kind == CONTENT_FROZENSET;
}

/*
 * Any other generator has gone on, for all that can be seen. From 3.15 on the iterator is
 * made when it begins.
 */
static bool is_of_iterator(const struct fingerprints *set, const struct content_node *node)
{
	const struct content_node *first =
		node->first_child ? &set->nodes[node->first_child - 1] : NULL;

	if (!first)
		return false;
	return first->kind == CONTENT_ITERATOR ||
	       (set->minor >= 15 && (first->kind == CONTENT_LIST || first->kind == CONTENT_TUPLE ||
				     first->kind == CONTENT_RANGE));
}

/* How much of what is in an object was looked into. */
struct coverage {
	bool cut;   /* some was not, for what it is or how deep it lies */
	bool known; /* all was, or of containers that there was no room for enough to tell of the
		       rest */
};

/* Which object it is tells as much as its contents do. */
static bool never_changes(const struct content_node *node)
{
	return node->kind >= CONTENT_NONE && node->kind <= CONTENT_BYTES;
}

/* Of what the node is, and of how many of its items are known. */
static struct coverage coverage_of(const struct content_node *node, size_t items, size_t known)
{
	bool enough = holds_items(node) && known >= ITEMS_KNOWN_MIN;

	return (struct coverage){
		.cut = node->partial && !node->spread && !node->refused,
		.known = enough || never_changes(node) || (!node->refused && known == items),
	};
}

/* Numbers from the items up. */
static struct coverage fold(const struct fingerprints *set, const struct content_node *node,
			    struct fingerprint *result)
{
	const struct content_type *type = content_type_of(set, node);
	size_t items = 0, known = 0, place = 0;
	struct coverage coverage;
	uint64_t sum = 0;
	bool cut = false;

	result->content = hash_combine(node->own, node->kind);
	result->whole = !node->partial;
	result->opaque = node->opaque || (type && type->stale);
	if (type && type->stale)
		result->content = hash_combine(result->content, node->object);
	result->opaque |= node->kind == CONTENT_GENERATOR && !is_of_iterator(set, node);
	for (size_t i = node->first_child; i; i = set->nodes[i - 1].next_child) {
		struct fingerprint item;

		/* Items lie behind what they are in, and levels are bounded. */
		coverage = fold(set, &set->nodes[i - 1], &item);
		cut |= coverage.cut;
		/* A dict's keys are no items. */
		if (node->kind != CONTENT_DICT || place++ % 2) {
			items++;
			known += coverage.known;
		}
		if (node->kind == CONTENT_CELL)
			result->content = item.content;
		else if (unordered(node))
			sum += hash_combine(hash_combine(1, set->nodes[i - 1].tag), item.content);
		else
			result->content = hash_combine(result->content, item.content);
		result->whole &= item.whole;
		result->opaque |= item.opaque;
	}
	if (sum)
		result->content = hash_combine(result->content, sum);
	coverage = coverage_of(node, items, known);
	coverage.cut |= cut;
	return coverage;
}

static bool has_slice(const struct fingerprints *set, const struct content_node *node)
{
	for (size_t i = node->first_child; i; i = set->nodes[i - 1].next_child)
		if (set->nodes[i - 1].kind == CONTENT_SLICE)
			return true;
	return false;
}

static bool is_of_type(const struct fingerprints *set, const struct content_node *node,
		       const char *name)
{
	const struct content_type *type = content_type_of(set, node);

	return type && !strcmp(type->name, name);
}

/* PyCFunctionObject and PyMethodDescrObject of all versions. */
static void find_definition(const struct fingerprints *set, const struct content_node *node,
			    struct fingerprint *result)
{
	if (node->head_size < FIELD_5)
		return;
	if (is_of_type(set, node, "builtin_function_or_method")) {
		result->definition = content_word(node, FIELD_1);
		result->module = content_word(node, FIELD_3);
	} else if (is_of_type(set, node, "method_descriptor")) {
		result->definition = content_word(node, FIELD_4);
	}
}

static uint64_t largest_item(const struct fingerprints *set, const struct content_node *node)
{
	uint64_t largest = 0;

	if (node->kind != CONTENT_LIST && node->kind != CONTENT_TUPLE)
		return 0;
	for (size_t i = node->first_child; i; i = set->nodes[i - 1].next_child) {
		const struct content_node *item = &set->nodes[i - 1];

		if ((item->kind == CONTENT_ARRAY || item->kind == CONTENT_TENSOR) &&
		    item->size > largest)
			largest = item->size;
	}
	return largest;
}

/* d.items() and the like: the dict that they are of; others as they are. */
static const struct content_node *viewed(const struct fingerprints *set,
					 const struct content_node *node)
{
	bool view = node->kind == CONTENT_OBJECT && node->child_count &&
		    (is_of_type(set, node, "dict_values") || is_of_type(set, node, "dict_items") ||
		     is_of_type(set, node, "dict_keys"));

	return view ? &set->nodes[node->first_child - 1] : node;
}

static uint64_t sketch_of(const struct fingerprints *set, const struct content_node *node)
{
	/* From the beginning: those behind lie elsewhere when one has gone. Of a deque the first
	 * and the last ones are known. */
	unsigned left =
		node->kind == CONTENT_DEQUE ? 2 * CONTENT_SKETCH_ITEMS : CONTENT_SKETCH_ITEMS;
	uint64_t sketch = 0;

	if (node->kind != CONTENT_LIST && node->kind != CONTENT_DEQUE && node->kind != CONTENT_DICT)
		return node->kind == CONTENT_SET ? node->sketch : 0;
	for (size_t i = node->first_child; i && left--; i = set->nodes[i - 1].next_child) {
		struct fingerprint item, value = { 0 };

		(void)fold(set, &set->nodes[i - 1], &item);
		/* Of a dict, a key and its value, which lies behind it. */
		if (node->kind == CONTENT_DICT) {
			i = set->nodes[i - 1].next_child;
			if (!i)
				break;
			(void)fold(set, &set->nodes[i - 1], &value);
		}
		if (!item.opaque && !value.opaque)
			sketch |= content_sketch_bit(item.content + value.content);
	}
	return sketch;
}

struct fingerprint fingerprints_get(const struct fingerprints *set, size_t index)
{
	const struct content_node *node = &set->nodes[index];
	struct fingerprint result = { 0 };
	struct coverage coverage;

	if (index >= set->root_count)
		return result;
	coverage = fold(set, node, &result);
	result.spread = coverage.known && !coverage.cut && !result.whole && !result.opaque;
	if (node->kind == CONTENT_CELL && node->child_count)
		node = &set->nodes[node->first_child - 1];
	result.object = node->object;
	result.kind = node->kind;
	/* A module's function is, to CPython, a method of the module. */
	if (node->kind == CONTENT_METHOD && node->child_count &&
	    set->nodes[node->first_child - 1].kind == CONTENT_CALLABLE)
		result.kind = CONTENT_CALLABLE;
	/* x[:, i] is a slice, whatever else is in its index. */
	if (node->kind == CONTENT_TUPLE && has_slice(set, node))
		result.kind = CONTENT_SLICE;
	result.frame = content_type_of(set, node) && content_type_of(set, node)->filtered;
	result.keyed = content_is_keyed(set, node);
	result.size = node->size;
	result.sketch = sketch_of(set, viewed(set, node));
	result.largest_item = largest_item(set, node);
	result.part = node->kind == CONTENT_ARRAY ? content_array_part(node) : 0;
	/* As large as the dict that they are of. */
	if (viewed(set, node) != node)
		result.size = viewed(set, node)->size;
	find_definition(set, node, &result);
	content_describe(set, node, result.shape, sizeof(result.shape));
	return result;
}
