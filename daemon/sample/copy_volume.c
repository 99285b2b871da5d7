/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/sample/copy_volume.h"

void copy_volume_init(struct copy_volume *copies, struct target *target)
{
	*copies = (struct copy_volume){ 0 };
	if (copy_routine_find(target, &copies->code))
		copies->rates = copy_rates_own();
}

bool copy_volume_known(const struct copy_volume *copies)
{
	return copies->rates != NULL;
}

void copy_volume_charge(const struct copy_volume *copies, const struct target *target,
			const struct registers *registers, uint64_t time_ns, struct side_time *node,
			struct side_time *thread)
{
	struct copy_rate rate;
	struct side_time copied = { .copying_ns = time_ns };

	if (!copies->rates || !address_ranges_contain(&copies->code, registers->rip))
		return;
	rate = copy_rates_of(copies->rates, copy_routine_size(target, registers));
	copied.copied_low_bytes = (uint64_t)(rate.low * (double)time_ns);
	copied.copied_high_bytes = (uint64_t)(rate.high * (double)time_ns);
	if (node)
		side_time_add(node, &copied);
	if (thread)
		side_time_add(thread, &copied);
}
