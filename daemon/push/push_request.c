/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/push/push_request.h"

#include "common/clock.h"
#include "daemon/push/spool.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CONNECT_TIMEOUT_S 10L
#define TIMEOUT_S         60L
#define DAY_S             86400

/* ---- what is the same in all of them */

static size_t take_answer(char *bytes, size_t size, size_t items, void *context)
{
	struct push_request *request = context;
	size_t more = size * items, room = sizeof(request->answer) - request->answer_size;

	if (more > room)
		return 0;
	memcpy(request->answer + request->answer_size, bytes, more);
	request->answer_size += more;
	return more;
}

static size_t take_header(char *line, size_t size, size_t items, void *context)
{
	struct push_request *request = context;

	grpc_trailers_take(&request->trailers, line, size * items);
	return size * items;
}

static bool add_header(struct push_request *request, const char *header)
{
	struct curl_slist *headers = curl_slist_append(request->headers, header);

	if (headers)
		request->headers = headers;
	return headers;
}

static bool add_headers(struct push_request *request)
{
	static const char *const of_protocol[][4] = {
		[PUSH_OTLP] = { "Content-Type: application/x-protobuf", "Content-Encoding: gzip",
				NULL },
		[PUSH_OTLP_GRPC] = { "Content-Type: application/grpc", "grpc-encoding: gzip",
				     "TE: trailers", NULL },
		[PUSH_PYROSCOPE] = { NULL },
	};
	const struct push_options *options = request->options;
	bool ready = add_header(request, "Expect:");

	for (size_t i = 0; of_protocol[options->protocol][i] && ready; i++)
		ready = add_header(request, of_protocol[options->protocol][i]);
	for (unsigned i = 0; i < options->header_count && ready; i++)
		ready = add_header(request, options->headers[i]);
	return ready;
}

/* HTTP/2 without asking, where there is no TLS in which to ask. There, libcurl 7.88 fails at the
 * second request of a connection (curl's issue 10634): each one has its own, at one a window. */
static bool choose_http(struct push_request *request)
{
	CURL *handle = request->handle;
	long version = CURL_HTTP_VERSION_2_PRIOR_KNOWLEDGE;

	return request->options->protocol != PUSH_OTLP_GRPC ||
	       (!curl_easy_setopt(handle, CURLOPT_HTTP_VERSION, version) &&
		!curl_easy_setopt(handle, CURLOPT_FORBID_REUSE,
				  strncmp(request->options->url.text, "https:", 6) ? 1L : 0L) &&
		!curl_easy_setopt(handle, CURLOPT_HEADERFUNCTION, take_header) &&
		!curl_easy_setopt(handle, CURLOPT_HEADERDATA, request));
}

static bool choose_authorities(const struct push_request *request)
{
	/* Not written to, and borrowed: CURL_BLOB_NOCOPY. */
	struct curl_blob blob = { .len = request->options->authorities_size,
				  .flags = CURL_BLOB_COPY };

	if (!request->options->authorities)
		return true;
	memcpy(&blob.data, &request->options->authorities, sizeof(blob.data));
	/* Those, and not the system's beside them. */
	return !curl_easy_setopt(request->handle, CURLOPT_CAINFO_BLOB, &blob) &&
	       !curl_easy_setopt(request->handle, CURLOPT_CAPATH, NULL);
}

bool push_request_prepare(struct push_request *request, const struct push_options *options)
{
	CURL *handle = curl_easy_init();

	request->options = options;
	request->handle = handle;
	pyroscope_sample_types(request->sample_types);
	return handle && add_headers(request) && choose_http(request) &&
	       choose_authorities(request) &&
	       !curl_easy_setopt(handle, CURLOPT_URL, options->url.text) &&
	       !curl_easy_setopt(handle, CURLOPT_PROTOCOLS_STR, "http,https") &&
	       /* Whoever it leads to would get the tokens. */
	       !curl_easy_setopt(handle, CURLOPT_FOLLOWLOCATION, 0L) &&
	       !curl_easy_setopt(handle, CURLOPT_NOSIGNAL, 1L) &&
	       !curl_easy_setopt(handle, CURLOPT_POST, 1L) &&
	       !curl_easy_setopt(handle, CURLOPT_HTTPHEADER, request->headers) &&
	       !curl_easy_setopt(handle, CURLOPT_CONNECTTIMEOUT, CONNECT_TIMEOUT_S) &&
	       !curl_easy_setopt(handle, CURLOPT_TIMEOUT, TIMEOUT_S) &&
	       !curl_easy_setopt(handle, CURLOPT_USERAGENT, "pieprofd/" PIEPROFD_VERSION) &&
	       !curl_easy_setopt(handle, CURLOPT_ERRORBUFFER, request->problem) &&
	       !curl_easy_setopt(handle, CURLOPT_WRITEFUNCTION, take_answer) &&
	       !curl_easy_setopt(handle, CURLOPT_WRITEDATA, request);
}

/* ---- bodies */

static int put_body(const struct push_request *request, const unsigned char *body, size_t size)
{
	return curl_easy_setopt(request->handle, CURLOPT_POSTFIELDS, body) ||
			       curl_easy_setopt(request->handle, CURLOPT_POSTFIELDSIZE_LARGE,
						(curl_off_t)size)
		       ? -ENOMEM
		       : 0;
}

static bool add_part(curl_mime *form, const char *name, const char *file, const void *bytes,
		     size_t size)
{
	curl_mimepart *part = curl_mime_addpart(form);

	return part && !curl_mime_name(part, name) && !curl_mime_filename(part, file) &&
	       !curl_mime_type(part, "application/octet-stream") &&
	       !curl_mime_data(part, bytes, size);
}

static int put_form(struct push_request *request, const unsigned char *body, size_t size)
{
	size_t query = pyroscope_query_length(body, size);
	const char *base = request->options->url.text;
	char *url = NULL;
	bool ready;

	if (!query)
		return -EBADMSG;
	if (asprintf(&url, "%s%c%.*s", base, strchr(base, '?') ? '&' : '?', (int)query,
		     (const char *)body) < 0)
		return -ENOMEM;
	request->form = curl_mime_init(request->handle);
	ready = request->form && !curl_easy_setopt(request->handle, CURLOPT_URL, url) &&
		add_part(request->form, "profile", "profile.pprof", body + query + 1,
			 size - query - 1) &&
		add_part(request->form, "sample_type_config", "sample_type_config.json",
			 request->sample_types, strlen(request->sample_types)) &&
		!curl_easy_setopt(request->handle, CURLOPT_MIMEPOST, request->form);
	free(url);
	return ready ? 0 : -ENOMEM;
}

static void drop_form(struct push_request *request)
{
	if (!request->form)
		return;
	(void)curl_easy_setopt(request->handle, CURLOPT_MIMEPOST, NULL);
	curl_mime_free(request->form);
	request->form = NULL;
}

int push_request_begin(struct push_request *request, CURLM *multi, unsigned char *bytes,
		       size_t size)
{
	unsigned char *body = bytes + SPOOL_HEADER_BYTES;
	int result;

	request->answer_size = 0;
	request->trailers = GRPC_TRAILERS_NONE;
	request->problem[0] = '\0';
	switch (request->options->protocol) {
	case PUSH_OTLP_GRPC:
		grpc_frame_put(body - GRPC_FRAME_BYTES, size);
		result = put_body(request, body - GRPC_FRAME_BYTES, size + GRPC_FRAME_BYTES);
		break;
	case PUSH_PYROSCOPE:
		result = put_form(request, body, size);
		break;
	default:
		result = put_body(request, body, size);
	}
	if (!result && curl_multi_add_handle(multi, request->handle))
		result = -ENOMEM;
	if (result)
		drop_form(request);
	return result;
}

/* ---- answers */

static void say(struct push_result *result, const char *words, const char *detail)
{
	snprintf(result->words, sizeof(result->words), "%s%s%s", words, *detail ? ": " : "",
		 detail);
}

static void judge_http(const struct push_request *request, long status, struct push_result *result)
{
	char words[32], message[RECEIVER_MESSAGE_BYTES];
	curl_off_t asked_s = 0;
	char *type = NULL;

	result->verdict = receiver_verdict(status);
	result->kind = status;
	(void)curl_easy_getinfo(request->handle, CURLINFO_RETRY_AFTER, &asked_s);
	(void)curl_easy_getinfo(request->handle, CURLINFO_CONTENT_TYPE, &type);
	if (asked_s > 0 && asked_s < DAY_S)
		result->asked_ns = (uint64_t)asked_s * NS_PER_SECOND;
	receiver_refusal_parse(type, request->answer, request->answer_size, message);
	snprintf(words, sizeof(words), "HTTP status %ld", status);
	say(result, words, message);
}

static void take_rejected(const void *message, size_t size, struct push_result *result)
{
	struct receiver_answer answer = receiver_answer_parse(message, size);

	result->rejected = answer.rejected;
	snprintf(result->words, sizeof(result->words), "%s", answer.message);
}

static void judge_grpc(const struct push_request *request, long status, struct push_result *result)
{
	const struct grpc_trailers *trailers = &request->trailers;
	const void *message = NULL;
	char words[64];
	size_t size;

	if (trailers->status == GRPC_NO_STATUS && status / 100 != 2) {
		judge_http(request, status, result);
		return;
	}
	result->verdict = grpc_verdict(trailers, status);
	result->kind = 1000 + trailers->status;
	result->asked_ns = trailers->retry_ns;
	if (trailers->status == GRPC_NO_STATUS)
		snprintf(words, sizeof(words), "an answer without a status of gRPC");
	else
		snprintf(words, sizeof(words), "gRPC status %ld, %s", trailers->status,
			 grpc_status_name(trailers->status));
	say(result, words, trailers->message);
	size = grpc_frame_message(request->answer, request->answer_size, &message);
	if (result->verdict == RECEIVER_ACCEPTED)
		take_rejected(message, size, result);
}

/* Why nobody answered, and what helps. */
static void judge_failure(const struct push_request *request, CURLcode code,
			  struct push_result *result)
{
	const char *cure = "";

	result->verdict = RECEIVER_BUSY;
	if (code == CURLE_PEER_FAILED_VERIFICATION || code == CURLE_SSL_CACERT_BADFILE)
		cure = request->options->authorities
			       ? " (its authority must be in the file of --push-ca)"
			       : " (--push-ca FILE names an authority of one's own)";
	else if (request->options->protocol == PUSH_OTLP_GRPC &&
		 (code == CURLE_HTTP2 || code == CURLE_WEIRD_SERVER_REPLY ||
		  code == CURLE_UNSUPPORTED_PROTOCOL || code == CURLE_GOT_NOTHING ||
		  code == CURLE_RECV_ERROR || code == CURLE_SEND_ERROR))
		cure = " (does gRPC listen there? its port is 4317 as a rule)";
	snprintf(result->words, sizeof(result->words), "%s%s",
		 request->problem[0] ? request->problem : curl_easy_strerror(code), cure);
}

struct push_result push_request_end(struct push_request *request, CURLM *multi, CURLcode code)
{
	struct push_result result = { .verdict = RECEIVER_BUSY };
	long status = 0, version = 0;

	(void)curl_easy_getinfo(request->handle, CURLINFO_RESPONSE_CODE, &status);
	(void)curl_easy_getinfo(request->handle, CURLINFO_HTTP_VERSION, &version);
	(void)curl_multi_remove_handle(multi, request->handle);
	drop_form(request);
	/* Of an answer that is too long, the status was read. */
	if (code && code != CURLE_WRITE_ERROR) {
		judge_failure(request, code, &result);
	} else if (request->options->protocol != PUSH_OTLP_GRPC) {
		judge_http(request, status, &result);
		if (result.verdict == RECEIVER_ACCEPTED)
			result.words[0] = '\0';
		if (result.verdict == RECEIVER_ACCEPTED && request->options->protocol == PUSH_OTLP)
			take_rejected(request->answer, request->answer_size, &result);
	} else if (version != CURL_HTTP_VERSION_2_0) {
		say(&result, "it speaks no HTTP/2, which gRPC needs", "");
	} else {
		judge_grpc(request, status, &result);
	}
	return result;
}
