/* SPDX-License-Identifier: Apache-2.0 */
/* What a receiver answers, and files of the spool. */
#include "tests/fuzz/fuzz.h"

#include "daemon/push/receiver_answer.h"
#include "daemon/push/spool.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct receiver_answer answer = receiver_answer_parse(data, size);
	unsigned char header[SPOOL_HEADER_BYTES];
	size_t body = spool_entry_body(data, size);

	fuzz_must(memchr(answer.message, 0, sizeof(answer.message)));
	for (size_t i = 0; answer.message[i]; i++)
		fuzz_must(answer.message[i] >= ' ' && answer.message[i] < 0x7f);
	fuzz_must(body <= size);
	if (body) {
		spool_header_put(header, data + body, size - body);
		fuzz_must(!memcmp(header, data, sizeof(header)));
	}
	return 0;
}
