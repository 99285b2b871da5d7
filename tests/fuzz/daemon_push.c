/* SPDX-License-Identifier: Apache-2.0 */
/* What a receiver answers, by HTTP and gRPC, and files of the spool. */
#include "tests/fuzz/fuzz.h"

#include "daemon/push/grpc_answer.h"
#include "daemon/push/pyroscope.h"
#include "daemon/push/receiver_answer.h"
#include "daemon/push/spool.h"

#include <string.h>

static void check_line(const char *text)
{
	fuzz_must(memchr(text, 0, RECEIVER_MESSAGE_BYTES));
	for (size_t i = 0; text[i]; i++)
		fuzz_must(text[i] >= ' ' && text[i] < 0x7f);
}

/* Lines of trailers, as many as there are. */
static void play_grpc(const uint8_t *data, size_t size)
{
	struct grpc_trailers trailers = GRPC_TRAILERS_NONE;
	const void *message = NULL;
	size_t length = grpc_frame_message(data, size, &message);

	fuzz_must(!length || (const uint8_t *)message + length <= data + size);
	while (size) {
		const uint8_t *end = memchr(data, '\n', size);
		size_t line = end ? (size_t)(end - data) + 1 : size;

		grpc_trailers_take(&trailers, (const char *)data, line);
		data += line;
		size -= line;
	}
	check_line(trailers.message);
	fuzz_must(trailers.status >= GRPC_NO_STATUS && trailers.status <= 9999);
	fuzz_must(trailers.retry_asked || !trailers.retry_ns);
	fuzz_must(*grpc_status_name(trailers.status));
	(void)grpc_verdict(&trailers, 200);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct receiver_answer answer = receiver_answer_parse(data, size);
	unsigned char header[SPOOL_HEADER_BYTES];
	size_t body = spool_entry_body(data, size);

	check_line(answer.message);
	play_grpc(data, size);
	fuzz_must(!size || pyroscope_query_length(data, size) < size);
	fuzz_must(body <= size);
	if (body) {
		spool_header_put(header, data + body, size - body);
		fuzz_must(!memcmp(header, data, sizeof(header)));
	}
	return 0;
}
