/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/report/model/owned_profile.h"

#include <stdlib.h>

void profile_destroy(struct profile *profile)
{
	struct owned_profile *owned = (struct owned_profile *)profile;

	if (!owned)
		return;
	if (owned->sources)
		source_cache_destroy(owned->sources);
	arena_deinit(&owned->arena);
	free(owned);
}
