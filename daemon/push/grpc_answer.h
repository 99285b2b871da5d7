/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What gRPC has over HTTP/2 (grpc.io, "PROTOCOL-HTTP2.md"), for one message each way:
 *
 *   request, answer:  one byte, whether it is compressed | its length, 4 bytes | the message
 *   then, of the answer alone, trailers: grpc-status, grpc-message, grpc-status-details-bin
 *
 * Foreign bytes. Pure.
 */
#ifndef PIEPROFD_DAEMON_PUSH_GRPC_ANSWER_H
#define PIEPROFD_DAEMON_PUSH_GRPC_ANSWER_H

#include "daemon/push/receiver_answer.h"

#define GRPC_FRAME_BYTES 5
#define GRPC_NO_STATUS   (-1)

/* In front of a request that is compressed. */
void grpc_frame_put(unsigned char frame[GRPC_FRAME_BYTES], size_t size);

/* Of an answer: its message, in the same bytes. 0: there is none, or it is compressed, which
 * nobody asked for. */
size_t grpc_frame_message(const void *bytes, size_t size, const void **ret_message);

struct grpc_trailers {
	long status; /* GRPC_NO_STATUS: not said */
	char message[RECEIVER_MESSAGE_BYTES];
	int retry_asked;   /* a RetryInfo was there */
	uint64_t retry_ns; /* what it says; 0: at once */
};

#define GRPC_TRAILERS_NONE                                                                         \
	(struct grpc_trailers)                                                                     \
	{                                                                                          \
		.status = GRPC_NO_STATUS                                                           \
	}

/* A line of the answer's headers or trailers; others say nothing. */
void grpc_trailers_take(struct grpc_trailers *trailers, const char *line, size_t size);

/* As OpenTelemetry's protocol has it (opentelemetry.io/docs/specs/otlp). */
enum receiver_verdict grpc_verdict(const struct grpc_trailers *trailers, long http_status);

/* "UNAVAILABLE"; "of no known name". */
const char *grpc_status_name(long status);

#endif
