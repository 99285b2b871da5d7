/* SPDX-License-Identifier: Apache-2.0 */
/* What a receiver of OpenTelemetry's profiles answers: foreign bytes. Pure. */
#ifndef PIEPROFD_DAEMON_PUSH_RECEIVER_ANSWER_H
#define PIEPROFD_DAEMON_PUSH_RECEIVER_ANSWER_H

#include <stddef.h>
#include <stdint.h>

enum receiver_verdict {
	RECEIVER_ACCEPTED,
	RECEIVER_BUSY,    /* to be tried again */
	RECEIVER_REFUSED, /* for good: the protocol forbids another try */
};

/* By the status of HTTP. */
enum receiver_verdict receiver_verdict(long status);

struct receiver_answer {
	uint64_t rejected; /* profiles of an accepted request that were not taken */
	char message[160]; /* why, one line without control characters; "": not said */
};

/* An ExportProfilesServiceResponse; anything else reads as nothing said. */
struct receiver_answer receiver_answer_parse(const void *bytes, size_t size);

#endif
