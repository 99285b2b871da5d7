/* SPDX-License-Identifier: Apache-2.0 */
/* What a receiver of profiles answers by HTTP: foreign bytes. Pure. */
#ifndef PIEPROFD_DAEMON_PUSH_RECEIVER_ANSWER_H
#define PIEPROFD_DAEMON_PUSH_RECEIVER_ANSWER_H

#include <stddef.h>
#include <stdint.h>

enum receiver_verdict {
	RECEIVER_ACCEPTED,
	RECEIVER_BUSY,    /* to be tried again */
	RECEIVER_REFUSED, /* for good: the protocol forbids another try */
};

#define RECEIVER_MESSAGE_BYTES 160

/* By the status of HTTP. */
enum receiver_verdict receiver_verdict(long status);

struct receiver_answer {
	uint64_t rejected; /* profiles of an accepted request that were not taken */
	char message[RECEIVER_MESSAGE_BYTES]; /* why, a line; "": not said */
};

/* An ExportProfilesServiceResponse; anything else reads as nothing said. */
struct receiver_answer receiver_answer_parse(const void *bytes, size_t size);

/* Why a request was not taken: of a google.rpc.Status, or the first line of text. type: what
 * Content-Type says; NULL: nothing. */
void receiver_refusal_parse(const char *type, const void *bytes, size_t size,
			    char message[RECEIVER_MESSAGE_BYTES]);

#endif
