/* SPDX-License-Identifier: Apache-2.0 */
/* A mangled name, C++ or Rust, and a buffer of a length that the first byte says. */
#include "symbolize/demangle.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input input = { data, size };
	size_t room = (size_t)fuzz_number(&input, 1) * 16;
	char *name = fuzz_text(&input), *buffer = malloc(room ? room : 1);

	fuzz_must(buffer);
	if (demangle_name(name, buffer, room))
		fuzz_must(memchr(buffer, '\0', room));
	free(buffer);
	free(name);
	return 0;
}
