/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/report/model/container_text.h"

#include <stdio.h>
#include <string.h>

/* As docker ps and podman ps show them; a name of lxc's is no longer. */
#define ID_SHOWN 12

static int shown_digits(const struct profile_container *container)
{
	return container_is_id(container->id, strnlen(container->id, sizeof(container->id)))
		       ? ID_SHOWN
		       : (int)sizeof(container->id);
}

struct profile_container profile_container_of(const struct container *container)
{
	struct profile_container copy = { .id = "" };

	if (!container)
		return copy;
	snprintf(copy.runtime, sizeof(copy.runtime), "%s", container->runtime);
	snprintf(copy.id, sizeof(copy.id), "%s", container->id);
	snprintf(copy.name, sizeof(copy.name), "%s", container->name);
	return copy;
}

struct container_text container_words(const struct profile_container *container)
{
	struct container_text words = { "" };
	bool named = container->name[0] != '\0';

	if (container->id[0])
		snprintf(words.text, sizeof(words.text), "%s%s%s %.*s%s", container->name,
			 named ? " (" : "", container->runtime, shown_digits(container),
			 container->id, named ? ")" : "");
	return words;
}

struct container_text container_suffix(const struct profile_container *container)
{
	struct container_text words = { "" };
	bool named = container->name[0] != '\0';

	if (container->id[0])
		snprintf(words.text, sizeof(words.text), " in %s%s%.*s%s", container->name,
			 named ? " (" : "", shown_digits(container), container->id,
			 named ? ")" : "");
	return words;
}
