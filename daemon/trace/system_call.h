/* SPDX-License-Identifier: Apache-2.0 */
/* Names of the kernel's system calls, on x86-64 (arch/x86/entry/syscalls/syscall_64.tbl, to 6.18).
 */
#ifndef PIEPROFD_DAEMON_TRACE_SYSTEM_CALL_H
#define PIEPROFD_DAEMON_TRACE_SYSTEM_CALL_H

/* NULL: it has none that is known. */
const char *system_call_name(unsigned number);

#endif
