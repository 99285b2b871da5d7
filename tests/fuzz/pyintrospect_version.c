/* SPDX-License-Identifier: Apache-2.0 */
/* The constants of a file that may be an interpreter: which version they name. */
#include "pyintrospect/version.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input input = { data, size };
	int major = 2 + (int)(fuzz_number(&input, 1) % 2);
	int minor = (int)(fuzz_number(&input, 1) % 32);
	char *bytes = (char *)fuzz_copy(&input);
	int micro = python_version_scan(bytes, input.left, major, minor);

	fuzz_must(micro >= -2 && micro < 100);
	/* Told by nothing but what is there. */
	fuzz_must(python_version_scan(bytes, 0, major, minor) == -1);
	if (micro < 0) {
		free(bytes);
		return 0;
	}
	for (size_t cut = 0; cut < input.left && cut < 64; cut++) {
		int some = python_version_scan(bytes, cut, major, minor);

		fuzz_must(some == micro || some == -1);
	}
	free(bytes);
	return 0;
}
