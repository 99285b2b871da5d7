/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/detect/builtin_call.h"

#include "common/hash.h"
#include "daemon/detect/outside_names.h"
#include "daemon/detect/slow_call.h"

#include <string.h>

/* Longer names are none of those that are looked for. */
#define NAME_SIZE 16
#define BUILTINS  "builtins"
/* Of a compact str of ASCII characters: behind its head, which lost a pointer in 3.12. */
#define STR_DATA(minor) ((minor) >= 12 ? 40u : 48u)
#define STR_LENGTH      16u

static bool is_of_builtins(const struct builtin_calls *calls, const struct memory_reader *reader,
			   remote_addr module)
{
	char name[sizeof(BUILTINS)];

	return module &&
	       !memory_read(reader, module + STR_DATA(calls->minor), name, sizeof(name)) &&
	       !memcmp(name, BUILTINS, sizeof(name));
}

const struct builtin_call *builtin_call_find(struct builtin_calls *calls,
					     const struct memory_reader *reader,
					     const struct fingerprint *callable)
{
	struct builtin_call *call =
		&calls->known[hash_mix(callable->definition) % BUILTIN_CALLS_KNOWN];
	char name[NAME_SIZE];
	remote_addr text;

	if (call->definition == callable->definition)
		return call;
	*call = (struct builtin_call){ .definition = callable->definition };
	if (memory_read_u64(reader, callable->definition, &text) ||
	    memory_read(reader, text, name, sizeof(name)) || !memchr(name, '\0', sizeof(name)))
		return call;
	call->slow = slow_call_find_builtin(name, is_of_builtins(calls, reader, callable->module));
	call->asks = outside_name_asks(name);
	call->appends = !strcmp(name, "append");
	call->queries = !strcmp(name, "execute") || !strcmp(name, "executemany");
	return call;
}

bool builtin_call_read_query(const struct builtin_calls *calls, const struct memory_reader *reader,
			     remote_addr text, struct database_query *ret)
{
	char letters[DATABASE_QUERY_TEXT];
	uint64_t length;

	if (memory_read_u64(reader, text + STR_LENGTH, &length) || !length)
		return false;
	if (length > sizeof(letters))
		length = sizeof(letters);
	if (memory_read(reader, text + STR_DATA(calls->minor), letters, length))
		return false;
	*ret = database_query_parse(letters, length);
	return true;
}
