/* SPDX-License-Identifier: Apache-2.0 */
#include "pyintrospect/heap/heap_container.h"

#include <errno.h>
#include <stdlib.h>

/* What has fewer is not worth following: most objects of a program have such a list or dict. */
#define LENGTH_LEAST 4
/* What a target may claim. */
#define LENGTH_BELIEVED (1ull << 40)
#define POWERS          41
/* Kept while it is not known yet which are the longest. */
#define CHOICE_MAX (2 * HEAP_CONTAINERS_MAX)

/* Where its length is, of the object's fields; 0: it is no container. */
static uint32_t length_field(const struct heap_type *type)
{
	switch (type->kind) {
	case HEAP_KIND_LIST:
	case HEAP_KIND_BYTEARRAY:
	case HEAP_KIND_SIZED:
		return OBJECT_SIZE;
	case HEAP_KIND_DICT:
		return DICT_USED;
	case HEAP_KIND_SET:
		return SET_USED;
	default:
		return 0;
	}
}

/* How many bytes behind the start of an object of each type its length is; 0: it has none. */
static uint32_t *list_lengths(const struct heap_types *types)
{
	uint32_t *lengths = calloc(types->count, sizeof(*lengths));

	for (size_t i = HEAP_NODE_FIRST_TYPE; lengths && i < types->count; i++) {
		uint32_t offset = length_field(&types->items[i]);

		if (offset)
			offset += types->layout.head_extra;
		if (offset + WORD_SIZE <= types->items[i].basic)
			lengths[i] = offset;
	}
	return lengths;
}

/* False: it is one that is not followed. */
static bool read_container(const struct heap_walk *walk, uint32_t node, uint32_t offset,
			   struct heap_container *ret_container)
{
	uint16_t kind = walk->nodes->kinds[node];
	const struct heap_type *type = &walk->types->items[kind];
	struct heap_block block = heap_nodes_block(walk->nodes, node);

	if (block.size < type->prefix + offset + WORD_SIZE)
		return false;
	*ret_container = (struct heap_container){
		.address = block.address + type->prefix,
		.type = type->address,
		.length_at = block.address + type->prefix + offset,
		.path = walk->path_of[node],
		.type_number = kind,
	};
	ret_container->length = heap_image_word(walk->image, ret_container->length_at);
	return ret_container->length >= LENGTH_LEAST && ret_container->length < LENGTH_BELIEVED;
}

static unsigned power_of(uint64_t length)
{
	return 63u - (unsigned)__builtin_clzll(length);
}

/* What is the shortest one so far that is kept, where there is room for all. */
struct choice {
	struct heap_container *items; /* CHOICE_MAX */
	size_t count;
	unsigned power; /* shorter ones are not kept */
	uint64_t by_power[POWERS], all;
};

/* Those that are shorter than a power of two go. */
static void drop_below(struct choice *choice, unsigned power)
{
	size_t kept = 0;

	for (size_t i = 0; i < choice->count; i++)
		if (power_of(choice->items[i].length) >= power)
			choice->items[kept++] = choice->items[i];
	choice->count = kept;
	choice->power = power;
}

/* The power of two from which on there is room for all. */
static unsigned choose_power(const struct choice *choice, uint64_t *ret_left_out)
{
	unsigned power = 0;

	for (*ret_left_out = 0; choice->all - *ret_left_out > HEAP_CONTAINERS_MAX; power++)
		*ret_left_out += choice->by_power[power];
	return power;
}

static void add_container(struct choice *choice, const struct heap_container *container)
{
	unsigned power = power_of(container->length);
	uint64_t left_out;

	choice->by_power[power]++;
	choice->all++;
	if (power < choice->power)
		return;
	/* What is chosen among some is chosen among more. */
	if (choice->count == CHOICE_MAX)
		drop_below(choice, choose_power(choice, &left_out));
	if (power >= choice->power)
		choice->items[choice->count++] = *container;
}

int heap_containers_list(const struct heap_walk *walk, struct heap_containers *ret_containers)
{
	struct choice choice = { .items = calloc(CHOICE_MAX, sizeof(*choice.items)) };
	uint32_t *lengths = list_lengths(walk->types);
	struct heap_containers containers = { 0 };
	struct heap_container container;

	if (!choice.items || !lengths) {
		free(choice.items);
		free(lengths);
		return -ENOMEM;
	}
	for (uint32_t node = 0; node < walk->nodes->count; node++) {
		uint32_t offset = lengths[walk->nodes->kinds[node]];

		if (offset && walk->path_of[node] && read_container(walk, node, offset, &container))
			add_container(&choice, &container);
	}
	free(lengths);
	drop_below(&choice, choose_power(&choice, &containers.left_out));
	containers.shortest = 1ull << choice.power;
	containers.items = choice.items;
	containers.count = choice.count;
	*ret_containers = containers;
	return 0;
}
