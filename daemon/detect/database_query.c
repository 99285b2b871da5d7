/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/detect/database_query.h"

#include "common/hash.h"

#include <string.h>
#include <strings.h>

#define WORD_MAX 64

/* A word in the text: a name, a keyword, or one character that is neither. */
struct word {
	const char *text;
	size_t length; /* 0: the end */
};

static bool is_of_name(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_' || c == '.' || (unsigned char)c >= 0x80;
}

/* Quotes of names are skipped; a string's are one word each, and so is what is between. */
static bool is_skipped(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '"' || c == '`' ||
	       c == '[' || c == ']';
}

static struct word next_word(const char *text, size_t length, size_t *at)
{
	struct word word;

	while (*at < length && is_skipped(text[*at]))
		(*at)++;
	word = (struct word){ .text = text + *at };
	while (*at < length && is_of_name(text[*at])) {
		(*at)++;
		word.length++;
	}
	if (!word.length && *at < length) {
		(*at)++;
		word.length = 1;
	}
	return word;
}

static bool is_word(struct word word, const char *keyword)
{
	return word.length == strlen(keyword) && !strncasecmp(word.text, keyword, word.length);
}

static bool is_one_of(struct word word, const char *const *keywords, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (is_word(word, keywords[i]))
			return true;
	return false;
}

#define IS_ONE_OF(word, keywords) is_one_of(word, keywords, sizeof(keywords) / sizeof(*(keywords)))

static void add_table(struct database_query *query, struct word word)
{
	uint64_t hash = 0;

	for (size_t i = 0; i < word.length && i < WORD_MAX; i++) {
		char c = word.text[i];

		hash = hash_combine(hash, (uint64_t)(c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c));
	}
	if (query->table_count < DATABASE_QUERY_TABLES)
		query->tables[query->table_count++] = hash;
	else
		query->more = true;
}

static uint8_t kind_of(struct word first)
{
	static const char *const writers[] = { "INSERT", "UPDATE",   "DELETE", "REPLACE",
					       "MERGE",  "TRUNCATE", "DROP",   "ALTER" };

	if (is_word(first, "SELECT"))
		return DATABASE_QUERY_ROWS;
	return IS_ONE_OF(first, writers) ? DATABASE_QUERY_WRITES : DATABASE_QUERY_OTHER;
}

struct database_query database_query_parse(const char *text, size_t length)
{
	/* A table's name is behind these; between it and them there may be others: UPDATE OR
	 * IGNORE t, DROP TABLE IF EXISTS t. */
	static const char *const before[] = { "FROM", "JOIN", "INTO", "UPDATE", "TABLE" };
	static const char *const between[] = { "OR",    "IGNORE", "REPLACE", "ABORT", "FAIL",
					       "TABLE", "ONLY",   "IF",      "EXISTS" };
	struct database_query query = { .more = length >= DATABASE_QUERY_TEXT };
	bool awaits_table = false, in_list = false;
	struct word word;
	size_t at = 0;

	if (length > DATABASE_QUERY_TEXT)
		length = DATABASE_QUERY_TEXT;
	do
		word = next_word(text, length, &at);
	while (is_word(word, "("));
	query.kind = kind_of(word);
	for (; word.length; word = next_word(text, length, &at)) {
		if (IS_ONE_OF(word, before)) {
			awaits_table = true;
		} else if (is_word(word, ",") && in_list) {
			awaits_table = true;
		} else if (awaits_table && !IS_ONE_OF(word, between)) {
			/* FROM (SELECT ...) names its own. */
			in_list = is_of_name(*word.text);
			if (in_list)
				add_table(&query, word);
			awaits_table = false;
		} else if (is_word(word, "WHERE") || is_word(word, "SET") || is_word(word, "(")) {
			in_list = false;
		}
	}
	return query;
}

static bool has_table(const struct database_written *written, uint64_t table)
{
	for (size_t i = 0; i < written->count; i++)
		if (written->tables[i] == table)
			return true;
	return false;
}

void database_written_add(struct database_written *written, const struct database_query *query)
{
	/* What it writes comes first. */
	written->more |= !query->table_count;
	for (size_t i = 0; i < query->table_count; i++) {
		if (has_table(written, query->tables[i]))
			continue;
		if (written->count < DATABASE_WRITTEN_MAX)
			written->tables[written->count++] = query->tables[i];
		else
			written->more = true;
	}
}

bool database_written_has(const struct database_written *written,
			  const struct database_query *query)
{
	if (written->more || (query->more && written->count))
		return true;
	for (size_t i = 0; i < query->table_count; i++)
		if (has_table(written, query->tables[i]))
			return true;
	return false;
}
