/* SPDX-License-Identifier: Apache-2.0 */
#include "pyintrospect/heap/heap_container.h"

#include <errno.h>
#include <stdlib.h>

/* What has fewer is not worth following: most objects of a program have such a list or dict. */
#define LENGTH_LEAST 4
/* What a target may claim. */
#define LENGTH_BELIEVED (1ull << 40)
#define POWERS          41

/* Where its length is, of the object; 0: it is no container. */
static uint32_t length_offset(const struct heap_type *type)
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

/* False: the node is none, or one that is not followed. */
static bool read_container(const struct heap_walk *walk, uint32_t node,
			   struct heap_container *ret_container)
{
	uint16_t kind = walk->nodes->kinds[node];
	const struct heap_type *type;
	struct heap_block block;
	uint32_t offset;

	if (kind < HEAP_NODE_FIRST_TYPE || !walk->path_of[node])
		return false;
	type = &walk->types->items[kind];
	offset = length_offset(type);
	if (!offset || offset + WORD_SIZE > type->basic)
		return false;
	block = heap_nodes_block(walk->nodes, node);
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

/* The power of two from which on there is room for all. */
static unsigned choose_power(const struct heap_walk *walk, uint64_t *ret_left_out)
{
	uint64_t by_power[POWERS] = { 0 }, all = 0;
	struct heap_container container;
	unsigned power = 0;

	for (uint32_t node = 0; node < walk->nodes->count; node++) {
		if (!read_container(walk, node, &container))
			continue;
		by_power[power_of(container.length)]++;
		all++;
	}
	for (*ret_left_out = 0; all - *ret_left_out > HEAP_CONTAINERS_MAX; power++)
		*ret_left_out += by_power[power];
	return power;
}

int heap_containers_list(const struct heap_walk *walk, struct heap_containers *ret_containers)
{
	struct heap_containers containers = { 0 };
	unsigned power = choose_power(walk, &containers.left_out);
	struct heap_container container;

	containers.shortest = 1ull << power;
	containers.items = calloc(HEAP_CONTAINERS_MAX, sizeof(*containers.items));
	if (!containers.items)
		return -ENOMEM;
	for (uint32_t node = 0; node < walk->nodes->count; node++)
		if (read_container(walk, node, &container) &&
		    container.length >= containers.shortest &&
		    containers.count < HEAP_CONTAINERS_MAX)
			containers.items[containers.count++] = container;
	*ret_containers = containers;
	return 0;
}
