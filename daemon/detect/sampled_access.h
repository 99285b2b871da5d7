/* SPDX-License-Identifier: Apache-2.0 */
/* A memory access that the processor sampled, told from its record and its instruction. */
#ifndef PIEPROFD_DAEMON_DETECT_SAMPLED_ACCESS_H
#define PIEPROFD_DAEMON_DETECT_SAMPLED_ACCESS_H

#include "attach/thread_events.h"
#include "common/memory.h"

/*
 * The access of the record's kind by the instruction at its ip, with the
 * address that the record has; code reads instruction bytes. registers serve
 * only to tell what the instruction does. 0; -EFAULT: its bytes cannot be
 * read; -ENOENT: it makes no such access, as when the processor names one
 * behind it.
 */
__attribute__((warn_unused_result)) int sampled_access(const struct memory_reader *code,
						       const struct registers *registers,
						       const struct event_record *record,
						       struct access *ret_access);

#endif
