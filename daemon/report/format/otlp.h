/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A profile as OpenTelemetry's message for a receiver of profiles: an
 * ExportProfilesServiceRequest of opentelemetry/proto/collector/profiles/v1development.
 *
 *   request -> resource, a process each -> scope -> a profile each kind of value
 *           -> dictionary -> mappings, locations, functions, strings, attributes, stacks
 *
 * Samples are those of pprof's files (stack_sample.h), and the dictionary is their table; a value
 * of zero is left out. What pprof has as labels is a sample's attributes: thread.name, thread.id,
 * pieprofd.task, pieprofd.waiting, pieprofd.access, pieprofd.category.
 */
#ifndef PIEPROFD_DAEMON_REPORT_FORMAT_OTLP_H
#define PIEPROFD_DAEMON_REPORT_FORMAT_OTLP_H

#include "daemon/report/encode/protobuf.h"
#include "daemon/report/model/profile.h"

#define OTLP_ID_BYTES 16

struct otlp_options {
	const char *service; /* service.name; NULL: as service_name.h has it */
	const char *node;    /* k8s.node.name; NULL: not known */
	/* By which receivers tell the same request from another one; its profiles' ids begin with
	 * the first 12 bytes. */
	unsigned char id[OTLP_ID_BYTES];
};

/* To be protobuf_deinit()ed in any case. 0, -ENODATA: the profile has no samples, or -ENOMEM. */
__attribute__((warn_unused_result)) int otlp_encode(const struct profile *profile,
						    const struct otlp_options *options,
						    struct protobuf *ret_request);

#endif
