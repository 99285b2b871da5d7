/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/detect/builtin_call.h"

#include "common/hash.h"
#include "daemon/detect/slow_call.h"

#include <string.h>

/* Longer names are none of those that are looked for. */
#define NAME_SIZE 16
#define BUILTINS  "builtins"
/* Of a compact str of ASCII characters: behind its head, which lost a pointer in 3.12. */
#define STR_DATA(minor) ((minor) >= 12 ? 40u : 48u)

static bool is_of_builtins(const struct builtin_calls *calls, const struct memory_reader *reader,
			   remote_addr module)
{
	char name[sizeof(BUILTINS)];

	return module &&
	       !memory_read(reader, module + STR_DATA(calls->minor), name, sizeof(name)) &&
	       !memcmp(name, BUILTINS, sizeof(name));
}

uint8_t builtin_call_find(struct builtin_calls *calls, const struct memory_reader *reader,
			  const struct fingerprint *callable)
{
	size_t at = hash_mix(callable->definition) % BUILTIN_CALLS_KNOWN;
	char name[NAME_SIZE];
	remote_addr text;
	bool of_builtins;

	if (!callable->definition)
		return 0;
	if (calls->known[at].definition == callable->definition)
		return calls->known[at].slow;
	calls->known[at].definition = callable->definition;
	calls->known[at].slow = 0;
	if (memory_read_u64(reader, callable->definition, &text) ||
	    memory_read(reader, text, name, sizeof(name)) || !memchr(name, '\0', sizeof(name)))
		return 0;
	of_builtins = is_of_builtins(calls, reader, callable->module);
	calls->known[at].slow = slow_call_find_builtin(name, of_builtins);
	return calls->known[at].slow;
}
