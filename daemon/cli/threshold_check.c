/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/cli/threshold_check.h"

#include "daemon/report/diff/threshold.h"

#include <stdio.h>

enum exit_code threshold_check(const struct options *options, const struct diff *diff,
			       const char *of)
{
	enum exit_code code = EXIT_OK;

	for (unsigned i = 0; i < options->threshold_count; i++) {
		const struct options_threshold *given = &options->thresholds[i];
		const struct diff_entry *worst = NULL;
		size_t count = threshold_broken(&given->threshold, diff, &worst);
		char text[4096];

		if (!count)
			continue;
		threshold_describe(&given->threshold, worst, text, sizeof(text));
		fprintf(stderr, "pieprofd: --fail-if %s: %s%s", given->text, of, text);
		if (count > 1)
			fprintf(stderr, "; and %zu more line%s", count - 1, count > 2 ? "s" : "");
		fputc('\n', stderr);
		code = EXIT_CHANGED;
	}
	return code;
}
