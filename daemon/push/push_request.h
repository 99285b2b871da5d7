/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A request of the spool on its way, in the form that its protocol has, and what became of it:
 *
 *   prepare, once -> begin -> (libcurl's multi handle) -> end, begin -> end, ...
 */
#ifndef PIEPROFD_DAEMON_PUSH_PUSH_REQUEST_H
#define PIEPROFD_DAEMON_PUSH_PUSH_REQUEST_H

#include "daemon/push/grpc_answer.h"
#include "daemon/push/push_options.h"
#include "daemon/push/pyroscope.h"

#include <curl/curl.h>

#define PUSH_ANSWER_BYTES_MAX (64u << 10)
#define PUSH_WORDS_BYTES      512

struct push_request {
	const struct push_options *options;
	CURL *handle;
	struct curl_slist *headers;
	curl_mime *form; /* Pyroscope's, while it is sent */
	unsigned char answer[PUSH_ANSWER_BYTES_MAX];
	size_t answer_size;
	struct grpc_trailers trailers;
	char problem[CURL_ERROR_SIZE];
	char sample_types[PYROSCOPE_SAMPLE_TYPES_BYTES];
};

struct push_result {
	enum receiver_verdict verdict;
	uint64_t asked_ns; /* of one that is busy; 0: it does not say */
	uint64_t rejected; /* profiles, of one that accepted */
	long kind;         /* refusals of the same kind have the same one */
	char words[PUSH_WORDS_BYTES];
};

/* false: no memory, or libcurl lacks something. */
bool push_request_prepare(struct push_request *request, const struct push_options *options);

/* bytes: as spool_read_first() has them; borrowed until the end. 0, -EBADMSG: it is no such
 * request, or -ENOMEM. */
__attribute__((warn_unused_result)) int push_request_begin(struct push_request *request,
							   CURLM *multi, unsigned char *bytes,
							   size_t size);

/* What libcurl says of it: code. */
struct push_result push_request_end(struct push_request *request, CURLM *multi, CURLcode code);

#endif
