/* SPDX-License-Identifier: Apache-2.0 */
/* A command line: its words end with a newline or a NUL. */
#include "daemon/cli/options_parse.h"
#include "tests/fuzz/fuzz.h"

#define WORDS_MAX 64

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct fuzz_input input = { data, size };
	char *text = fuzz_text(&input), *words[WORDS_MAX + 2], program[] = "pieprofd";
	struct options options;
	int count = 0;

	words[count++] = program;
	for (size_t at = 0; at < size && count <= WORDS_MAX;) {
		size_t length;

		words[count++] = text + at;
		length = strcspn(text + at, "\n");
		text[at + length] = '\0';
		at += length + 1;
	}
	words[count] = NULL;
	if (options_parse(count, words, &options, fuzz_sink()) == 0) {
		fuzz_must(options.output_count <= OPTIONS_OUTPUTS_MAX);
		fuzz_must(options.pid_count <= OPTIONS_PIDS_MAX);
		fuzz_must(options.action != OPTIONS_RECORD ||
			  (options.rate_hz > 0 && options.max_overhead > 0));
		for (unsigned i = 0; i < options.output_count; i++)
			fuzz_read_string(options.outputs[i].path);
	}
	free(text);
	return 0;
}
