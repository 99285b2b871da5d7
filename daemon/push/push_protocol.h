/* SPDX-License-Identifier: Apache-2.0 */
/* What a receiver of profiles understands. */
#ifndef PIEPROFD_DAEMON_PUSH_PUSH_PROTOCOL_H
#define PIEPROFD_DAEMON_PUSH_PUSH_PROTOCOL_H

enum push_protocol {
	PUSH_OTLP,      /* OpenTelemetry's profiles, by HTTP */
	PUSH_OTLP_GRPC, /* the same requests, by gRPC */
	PUSH_PYROSCOPE, /* its /ingest: pprof in a form */
};

#endif
