/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/report/model/service_name.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define UNKNOWN "unknown_service:python"
/* Options of the interpreter whose value is the next word. */
#define WITH_VALUE "WXQ"

struct word {
	const char *at;
	size_t size;
};

static struct word next_word(const char **text)
{
	struct word word;

	*text += strspn(*text, " ");
	word = (struct word){ *text, strcspn(*text, " ") };
	*text += word.size;
	return word;
}

static struct word base_of(struct word word)
{
	for (size_t i = word.size; i-- > 0;)
		if (word.at[i] == '/')
			return (struct word){ word.at + i + 1, word.size - i - 1 };
	return word;
}

static struct service_name name_of(struct word word)
{
	struct service_name name;

	if (word.size > 3 && !memcmp(word.at + word.size - 3, ".py", 3))
		word.size -= 3;
	if (!word.size)
		word = (struct word){ UNKNOWN, strlen(UNKNOWN) };
	snprintf(name.text, sizeof(name.text), "%.*s", (int)word.size, word.at);
	return name;
}

struct service_name service_name_of_command(const char *command)
{
	const struct word unknown = { UNKNOWN, strlen(UNKNOWN) };
	struct word word = base_of(next_word(&command));

	if (!word.size)
		return name_of(unknown);
	if (word.size < 6 || memcmp(word.at, "python", 6) != 0)
		return name_of(word);
	for (;;) {
		word = next_word(&command);
		if (!word.size)
			return name_of(unknown);
		if (word.at[0] != '-')
			return name_of(base_of(word));
		if (word.size == 1 || word.at[word.size - 1] == 'c')
			return name_of(unknown);
		if (word.at[word.size - 1] == 'm')
			return name_of(next_word(&command));
		if (word.size == 2 && strchr(WITH_VALUE, word.at[1]))
			(void)next_word(&command);
	}
}

static struct service_name of_words(const char *const *words)
{
	char text[512];
	size_t used = 0;

	text[0] = '\0';
	for (; words && *words && used < sizeof(text); words++)
		used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s", used ? " " : "",
					 *words);
	return service_name_of_command(text);
}

struct service_name service_name_of(const struct profile *profile,
				    const struct profile_process *process)
{
	const struct profile_container *container =
		process ? &process->container : &profile->facts.target.container;
	const struct process_labels *labels =
		process ? &process->labels : &profile->facts.target.labels;

	if (labels->service[0])
		return name_of((struct word){ labels->service, strlen(labels->service) });
	if (container->name[0])
		return name_of((struct word){ container->name, strlen(container->name) });
	return process ? service_name_of_command(process->command ? process->command : "")
		       : of_words(profile->facts.target.command);
}
