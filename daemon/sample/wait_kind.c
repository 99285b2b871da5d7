/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/sample/wait_kind.h"

#include <fcntl.h>
#include <sys/syscall.h>

/* Newer than some headers. */
#define CALL_FUTEX_WAITV 449
#define CALL_FUTEX_WAIT  455

static enum wait_kind lock_at(uint64_t address, const struct address_ranges *gil_locks)
{
	return address_ranges_contain(gil_locks, address) ? WAIT_GIL : WAIT_LOCK;
}

/* Without files, a call that waits for their readiness is one that sleeps. */
static enum wait_kind files(uint64_t count)
{
	return count ? WAIT_IO : WAIT_SLEEP;
}

static enum wait_kind file_control(uint64_t command)
{
	switch (command) {
	case F_SETLKW:
	case F_OFD_SETLKW:
		return WAIT_LOCK;
	default:
		return WAIT_IO;
	}
}

enum wait_kind wait_kind_of(const struct process_sleep *sleep,
			    const struct address_ranges *gil_locks)
{
	switch (sleep->system_call) {
	case SYS_futex:
	case CALL_FUTEX_WAIT:
		return lock_at(sleep->arguments[0], gil_locks);
	case CALL_FUTEX_WAITV:
	case SYS_semop:
	case SYS_semtimedop:
	case SYS_flock:
		return WAIT_LOCK;
	case SYS_fcntl:
		return file_control(sleep->arguments[1]);
	case SYS_nanosleep:
	case SYS_clock_nanosleep:
		return WAIT_SLEEP;
	case SYS_select: /* (count, ...): time.sleep() to 3.10 */
	case SYS_pselect6:
		return files(sleep->arguments[0]);
	case SYS_poll: /* (array, count, ...) */
	case SYS_ppoll:
		return files(sleep->arguments[1]);
	case SYS_wait4:
	case SYS_waitid:
	case SYS_vfork:
		return WAIT_CHILD;
	case SYS_read:
	case SYS_write:
	case SYS_readv:
	case SYS_writev:
	case SYS_pread64:
	case SYS_pwrite64:
	case SYS_preadv:
	case SYS_pwritev:
	case SYS_preadv2:
	case SYS_pwritev2:
	case SYS_recvfrom:
	case SYS_recvmsg:
	case SYS_recvmmsg:
	case SYS_sendto:
	case SYS_sendmsg:
	case SYS_sendmmsg:
	case SYS_accept:
	case SYS_accept4:
	case SYS_connect:
	case SYS_epoll_wait:
	case SYS_epoll_pwait:
	case SYS_epoll_pwait2:
	case SYS_io_getevents:
	case SYS_io_pgetevents:
	case SYS_io_uring_enter:
	case SYS_sendfile:
	case SYS_splice:
	case SYS_tee:
	case SYS_vmsplice:
	case SYS_copy_file_range:
	case SYS_open:
	case SYS_openat:
	case SYS_openat2:
	case SYS_close:
	case SYS_stat:
	case SYS_fstat:
	case SYS_lstat:
	case SYS_newfstatat:
	case SYS_statx:
	case SYS_getdents64:
	case SYS_fsync:
	case SYS_fdatasync:
	case SYS_sync:
	case SYS_syncfs:
	case SYS_msync:
	case SYS_sync_file_range:
	case SYS_ftruncate:
	case SYS_fallocate:
	case SYS_unlink:
	case SYS_unlinkat:
	case SYS_rename:
	case SYS_renameat:
	case SYS_renameat2:
	case SYS_mkdir:
	case SYS_rmdir:
	case SYS_ioctl:
	case SYS_shutdown:
	case SYS_mq_timedreceive:
	case SYS_mq_timedsend:
	case SYS_msgrcv:
	case SYS_msgsnd:
		return WAIT_IO;
	default:
		return WAIT_OTHER;
	}
}
