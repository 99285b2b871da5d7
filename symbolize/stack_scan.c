/* SPDX-License-Identifier: Apache-2.0 */
#include "symbolize/stack_scan.h"

#include "symbolize/elf_image.h"

/* call [base + index + disp32] without prefixes. */
#define CALL_BYTES_MAX 7

/* Length of "call r/m64" (FF /2) from its ModRM and SIB bytes, which may be past the end. */
static size_t indirect_call_size(uint8_t modrm, uint8_t sib)
{
	uint8_t mode = modrm >> 6, memory = modrm & 7;
	size_t size = 2;

	if (mode == 3)
		return size;
	if (memory == 4) {
		size++;
		if (mode == 0 && (sib & 7) == 5)
			size += 4;
	} else if (mode == 0 && memory == 5) {
		size += 4;
	}
	if (mode == 1)
		size += 1;
	if (mode == 2)
		size += 4;
	return size;
}

/* The CALL_BYTES_MAX bytes before an address, or NULL. */
static const uint8_t *bytes_before(const struct module *module, remote_addr address)
{
	const uint8_t *bytes;
	size_t available;

	if (!module->image)
		return NULL;
	bytes = elf_image_at(module->image, address - module->bias - CALL_BYTES_MAX, &available);
	return bytes && available >= CALL_BYTES_MAX ? bytes : NULL;
}

/* call rel32 */
static bool ends_in_direct_call(const uint8_t *bytes)
{
	return bytes[CALL_BYTES_MAX - 5] == 0xe8;
}

/* Whether the instruction that ends at return_address in module is a call. */
static bool is_after_call(const struct module *module, remote_addr return_address)
{
	const uint8_t *bytes = bytes_before(module, return_address);

	if (!bytes)
		return false;
	if (ends_in_direct_call(bytes))
		return true;
	for (size_t size = 2; size <= CALL_BYTES_MAX; size++) {
		const uint8_t *call = bytes + CALL_BYTES_MAX - size;

		if (call[0] == 0xff && ((call[1] >> 3) & 7) == 2 &&
		    indirect_call_size(call[1], size > 2 ? call[2] : 0) == size)
			return true;
	}
	return false;
}

int stack_scan_call_target(const struct module *module, remote_addr return_address,
			   remote_addr *ret_target)
{
	const uint8_t *bytes = bytes_before(module, return_address);
	int32_t displacement;

	if (!bytes || !ends_in_direct_call(bytes))
		return -ENOENT;
	memcpy(&displacement, bytes + CALL_BYTES_MAX - 4, sizeof(displacement));
	*ret_target = return_address + (uint64_t)(int64_t)displacement;
	return 0;
}

int stack_scan_next(const struct module_table *modules, struct stack_view *view,
		    remote_addr address, remote_addr end, remote_addr *ret_slot,
		    remote_addr *ret_value)
{
	for (; address < end; address += 8) {
		const struct module *module;
		uint64_t value;

		if (stack_view_read_u64(view, address, &value))
			return -ENOENT;
		module = module_find(modules, value - 1);
		if (module && is_after_call(module, value)) {
			*ret_slot = address;
			*ret_value = value;
			return 0;
		}
	}
	return -ENOENT;
}
