/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requests to Pyroscope's /ingest (grafana.com/docs/pyroscope, "Server HTTP API"):
 *
 *   POST /ingest?name=SERVICE{pod=...}&from=...&until=...&spyName=pieprofd&sampleRate=100
 *   a form:  profile, a file of pprof's;  sample_type_config, what its values are
 *
 * A series is what has the same name and labels, and each one costs the store: so processes that
 * are called the same make one request, and of the labels of samples those stay that have few
 * values. A request in the spool is its query, a NUL, and the file.
 */
#ifndef PIEPROFD_DAEMON_PUSH_PYROSCOPE_H
#define PIEPROFD_DAEMON_PUSH_PYROSCOPE_H

#include "daemon/report/model/profile.h"

#include <stddef.h>

struct pyroscope_options {
	const char *service; /* NULL: as service_name.h has it */
	const char *node;    /* NULL: not known */
};

/* Takes the request while it is called. */
typedef int pyroscope_put(void *context, const void *bytes, size_t size);

/* A request for each name and labels. 0, -ENODATA: the profile has no samples, another negative
 * errno, or what put said; the others are put nevertheless. */
__attribute__((warn_unused_result)) int pyroscope_encode(const struct profile *profile,
							 const struct pyroscope_options *options,
							 pyroscope_put *put, void *context);

/* How long the query is that the request begins with; 0: it is no such request. Pure. */
size_t pyroscope_query_length(const void *bytes, size_t size);

#define PYROSCOPE_SAMPLE_TYPES_BYTES 2048

/* The form's sample_type_config. */
void pyroscope_sample_types(char text[PYROSCOPE_SAMPLE_TYPES_BYTES]);

#endif
