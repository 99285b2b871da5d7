/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/push/push_url.h"

#include <curl/curl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PATH_BYTES_MAX 80

static const char *const default_paths[] = {
	[PUSH_OTLP] = "/v1development/profiles",
	[PUSH_OTLP_GRPC] =
		"/opentelemetry.proto.collector.profiles.v1development.ProfilesService/Export",
	[PUSH_PYROSCOPE] = "/ingest",
};

/* What is wrong with it; NULL: nothing. */
static const char *parse(CURLU *url, const char *text, enum push_protocol protocol,
			 struct push_url *ret_url)
{
	const char *path_wanted = default_paths[protocol];
	char *scheme = NULL, *user = NULL, *path = NULL, *host = NULL, *port = NULL, *whole = NULL;
	const char *problem = NULL;

	if (strlen(text) >= PUSH_URL_BYTES - PATH_BYTES_MAX)
		return "it is too long";
	if (!strstr(text, "://"))
		return "it has no http:// or https://";
	if (curl_url_set(url, CURLUPART_URL, text, CURLU_NON_SUPPORT_SCHEME))
		return "it is no address";
	if (curl_url_get(url, CURLUPART_SCHEME, &scheme, 0) ||
	    (strcmp(scheme, "http") != 0 && strcmp(scheme, "https") != 0))
		problem = "it has no http:// or https://";
	else if (!curl_url_get(url, CURLUPART_USER, &user, 0))
		problem = "who asks does not belong there: command lines are public";
	else if (curl_url_get(url, CURLUPART_HOST, &host, 0) ||
		 strlen(host) >= sizeof(ret_url->host) ||
		 curl_url_get(url, CURLUPART_PORT, &port, CURLU_DEFAULT_PORT) ||
		 strlen(port) >= sizeof(ret_url->port))
		problem = "it has no host";
	else if (curl_url_get(url, CURLUPART_PATH, &path, 0))
		problem = "it is no address";
	else if (protocol == PUSH_OTLP_GRPC && strcmp(path, "/") != 0 &&
		 strcmp(path, path_wanted) != 0)
		problem = "gRPC has a path of its own";
	else if ((!strcmp(path, "/") && curl_url_set(url, CURLUPART_PATH, path_wanted, 0)) ||
		 curl_url_set(url, CURLUPART_FRAGMENT, NULL, 0) ||
		 curl_url_get(url, CURLUPART_URL, &whole, 0) || strlen(whole) >= PUSH_URL_BYTES)
		problem = "it is no address";
	if (!problem) {
		snprintf(ret_url->text, sizeof(ret_url->text), "%s", whole);
		snprintf(ret_url->host, sizeof(ret_url->host), "%s", host);
		snprintf(ret_url->port, sizeof(ret_url->port), "%s", port);
	}
	curl_free(scheme);
	curl_free(user);
	curl_free(path);
	curl_free(host);
	curl_free(port);
	curl_free(whole);
	return problem;
}

int push_url_parse(const char *text, enum push_protocol protocol, struct push_url *ret_url,
		   struct error *error)
{
	CURLU *url = curl_url();
	const char *problem = url ? parse(url, text, protocol, ret_url) : "out of memory";
	/* What a password may stand in is not repeated. */
	bool secret = strchr(text, '@') != NULL;

	curl_url_cleanup(url);
	if (!problem)
		return 0;
	error_set(error, EXIT_USAGE, "--push %s: %s", secret ? "URL" : text, problem);
	error_set_cure(error, "Such as http://127.0.0.1:4318 or https://collector.example:4318; "
			      "--push-header 'Authorization: ...' or --push-header @FILE says who "
			      "asks.");
	return -1;
}
