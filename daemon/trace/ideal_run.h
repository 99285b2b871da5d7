/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How long the ranks would have run if messages took no time: the trace is played again, in which
 * each computes for as long as it did between its calls, and leaves a call as soon as those have
 * come for whom it waits there.
 *
 *   rank 0   computes | send                         ideal: as long as this goes on ...
 *   rank 1   comp. | receive . . . . . | computes
 *   rank 1   comp. | . . .|computes                  ... rank 1 waits here, and no longer
 *
 * The POP project (pop-coe.eu, "Multiplicative metrics"; there by Dimemas) splits communication
 * efficiency by that time:
 *
 *   serialisation efficiency = largest useful time / ideal run time
 *   transfer efficiency      = ideal run time / run time
 *
 * What is waited for: of a receive, the call that sends; of a collective operation, all members,
 * the root, or the ranks before (collective.h); of a blocking send that goes by rendezvous, the
 * receive. MPI_Ssend does; of MPI_Send those of sizes of which some were seen to wait for a late
 * receiver, and none that was as large or larger to end before one came. Where the request of a
 * send is waited for, that takes no time. Who got which message is as it was.
 *
 * The time is not known where that does not tell all: events were lost, a receive or a collective
 * operation in the window was not matched, calls wait in other ways (requests of collective
 * operations, windows, files), or several threads of a rank call MPI. Memory: 40 bytes a message
 * and 24 to 56 for each call of a collective operation, of which a trace has at most
 * TRACE_EVENTS_MAX. Pure.
 */
#ifndef PIEPROFD_DAEMON_TRACE_IDEAL_RUN_H
#define PIEPROFD_DAEMON_TRACE_IDEAL_RUN_H

#include "daemon/trace/ideal_replay.h"

/* A collective operation in the subject's time: calls of the members of the communicator, by
 * place there, and the root among them. 0 or -ENOMEM. */
__attribute__((warn_unused_result)) int ideal_run_note(struct ideal_run *ideal,
						       const struct ideal_subject *subject,
						       uint32_t communicator,
						       const struct trace_event *const *calls,
						       uint32_t root);

/* When all operations were noted, and messages are matched. 0 or -ENOMEM; deinit in any case. */
__attribute__((warn_unused_result)) int ideal_run_find(struct ideal_run *ideal,
						       const struct ideal_subject *subject);
void ideal_run_deinit(struct ideal_run *ideal);

/* Why it is not known, such as "of 3 receives the sender is not known". */
void ideal_run_reason(const struct ideal_run *ideal, char *ret_words, size_t size);

#endif
