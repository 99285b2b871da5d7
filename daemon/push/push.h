/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Profiles to a receiver: OpenTelemetry's, by HTTP or gRPC, or Pyroscope's (push_protocol.h).
 *
 *   push_profile() -> requests, gzipped -> [socket] -> sender -> spool -> receiver
 *
 * The sender is a process of its own (sender.h): whatever the network, its names and its
 * certificates do, no thread that samples waits, and what reads a receiver's answers has neither
 * a target's memory nor our rights. Where it ends before its time, keeper.h begins another one.
 *
 * Each of OpenTelemetry's has an id, which its profiles' ids begin with, and is sent again with the
 * same one until the receiver has answered: a receiver that went away before it answered knows it
 * again.
 */
#ifndef PIEPROFD_DAEMON_PUSH_PUSH_H
#define PIEPROFD_DAEMON_PUSH_PUSH_H

#include "daemon/push/push_options.h"
#include "daemon/report/model/profile.h"

#include <stdbool.h>

struct push;

/* Before there is a second thread. NULL: *error says why. */
struct push *push_start(const struct push_options *options, struct error *error);

/* From one thread at a time. One without samples is not sent. 0 or a negative errno: it will not be
 * sent, and is counted. */
int push_profile(struct push *push, const struct profile *profile);

struct push_counts push_counts(const struct push *push);

/* Waits a few seconds for what is not sent yet; of what then is left, says where it is kept. NULL:
 * nothing. */
void push_end(struct push *push);

/* "-H" of curl: "NAME: VALUE" of visible characters. Pure. */
bool push_header_is_valid(const char *text);

#endif
