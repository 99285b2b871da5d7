/* SPDX-License-Identifier: Apache-2.0 */
/* The verdict on a heap in words: a headline, and what it rests on. */
#ifndef PIEPROFD_DAEMON_HEAP_HEAP_WORDS_H
#define PIEPROFD_DAEMON_HEAP_HEAP_WORDS_H

#include "daemon/heap/heap_course.h"
#include "daemon/report/encode/figure.h"

#define HEAP_SENTENCES_MAX 8
#define HEAP_SENTENCE_SIZE 1400

struct heap_words {
	char headline[HEAP_SENTENCE_SIZE];
	char sentences[HEAP_SENTENCES_MAX][HEAP_SENTENCE_SIZE];
	size_t sentence_count;
};

/* look has a course. Names of the target are in them as they are. */
void heap_words_say(const struct heap_look *look, struct heap_words *ret_words);

/* "90 s", "12 min", "5 h", "3 days" */
struct figure heap_words_time(double seconds);

/* "app.cache{*}  (dict)", of a path of the look. */
void heap_words_path(const struct heap_look *look, uint32_t path, char *words, size_t size);

#endif
