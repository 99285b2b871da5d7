/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What systemd is told of a service with Type=notify, and whoever else starts us and waits:
 * sd_notify(3), whose protocol is a datagram.
 */
#ifndef PIEPROFD_DAEMON_SERVE_NOTIFY_H
#define PIEPROFD_DAEMON_SERVE_NOTIFY_H

#include <stdint.h>

/* "READY=1", "STOPPING=1", "WATCHDOG=1", "STATUS=...". Nothing where $NOTIFY_SOCKET is not set. */
void notify_send(const char *state);

/* How often WATCHDOG=1 is to be said, half of what is allowed; 0: it is not wanted of us. */
uint64_t notify_watchdog_ns(void);

#endif
