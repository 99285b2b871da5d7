/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/detect/builtin_call.h"

#include "common/hash.h"
#include "daemon/detect/outside_names.h"
#include "daemon/detect/slow_call.h"

#include <string.h>
#include <strings.h>

/* Longer names are none of those that are looked for. */
#define NAME_SIZE 16
#define BUILTINS  "builtins"
/* Of a query's text, with a line's indentation. */
#define QUERY_HEAD 32
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
	call->queries = !strcmp(name, "execute");
	return call;
}

bool builtin_call_asks_for_rows(const struct builtin_calls *calls,
				const struct memory_reader *reader, remote_addr text)
{
	char letters[QUERY_HEAD + 1] = { 0 };
	size_t blank;

	if (memory_read(reader, text + STR_DATA(calls->minor), letters, QUERY_HEAD))
		return false;
	blank = strspn(letters, " \t\r\n(");
	return !strncasecmp(letters + blank, "SELECT", sizeof("SELECT") - 1);
}
