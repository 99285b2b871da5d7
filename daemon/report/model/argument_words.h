/* SPDX-License-Identifier: Apache-2.0 */
/* What the arguments of a site's calls say, as a colleague would. */
#ifndef PIEPROFD_DAEMON_REPORT_MODEL_ARGUMENT_WORDS_H
#define PIEPROFD_DAEMON_REPORT_MODEL_ARGUMENT_WORDS_H

#include "daemon/bytecode/expression.h"
#include "daemon/detect/argument_vote.h"
#include "daemon/report/model/arena.h"
#include "daemon/report/model/source.h"
#include "pyintrospect/code_names.h"

/* The words of a site. It refers to itself: not to be copied but to be spoken with. */
struct argument_words {
	struct source_cache *sources;
	const struct argument_log *log;
	const struct argument_summary *summaries; /* of each site */
	struct code_names names;
	char name[EXPRESSION_SIZE];
	const struct argument_site *site;
	struct bytecode bytecode;
	struct expression_context context;
};

/* All is borrowed. 0 or -ENOMEM. */
__attribute__((warn_unused_result)) int argument_words_init(
	struct argument_words *words, const struct argument_log *log,
	const struct argument_summary *summaries, struct source_cache *sources, uint32_t site);
void argument_words_deinit(struct argument_words *words);

/* The sentence of a verdict about the expression (NULL: it has no text), the arena's; NULL: none.
 */
const char *argument_words_finding(struct arena *arena, const struct argument_words *words,
				   const struct argument_summary *summary,
				   enum argument_verdict verdict, const char *expression);

#endif
