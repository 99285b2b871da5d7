/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table is read by the handler, which may run in any thread at any moment,
 * so it has no lock: an entry is taken by its start, written last and cleared
 * first. An entry is asked about only by a thread that reads the mapping, so
 * the right one does not change meanwhile; others may, and are not believed
 * unless their start is the same before and after their end was read.
 *
 * All behind the lost page is replaced at once: one page each would let a
 * large file use up the mappings that a process may have.
 */
#include "common/foreign_mapping.h"

#include <errno.h>
#include <linux/magic.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#define PAGE_BYTES ((size_t)4096)
#define START_FREE ((uintptr_t)0)
#define START_NONE ((uintptr_t)1) /* taken, but not mapped yet, or no longer */

struct entry {
	_Atomic uintptr_t start;
	_Atomic uintptr_t end; /* of the file's pages */
	atomic_bool is_writable;
	atomic_bool has_lost;
};

static struct entry entries[FOREIGN_MAPPINGS_MAX];
static atomic_size_t entries_used; /* those behind were never taken */

static struct sigaction previous;

/* Async-signal-safe. The entry that an address is in, or NULL; *ret_end is where it ends. */
static struct entry *find_mapping_entry(uintptr_t address, uintptr_t *ret_end)
{
	size_t used = atomic_load(&entries_used);

	for (size_t i = 0; i < used; i++) {
		uintptr_t start = atomic_load(&entries[i].start);
		uintptr_t end = atomic_load(&entries[i].end);

		if (start > START_NONE && address >= start && address < end &&
		    atomic_load(&entries[i].start) == start) {
			*ret_end = end;
			return &entries[i];
		}
	}
	return NULL;
}

/* Async-signal-safe. */
static bool replace_pages(uintptr_t address)
{
	uintptr_t end = 0, page = address & ~(uintptr_t)(PAGE_BYTES - 1);
	struct entry *entry = find_mapping_entry(address, &end);
	int protection = PROT_READ;

	if (!entry)
		return false;
	if (atomic_load(&entry->is_writable))
		protection |= PROT_WRITE;
	/* Not mmap(): a sanitizer's stands in its place, which a handler must not call. */
	if (syscall(SYS_mmap, page, end - page, protection,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0) != (long)page)
		return false;
	atomic_store(&entry->has_lost, true);
	return true;
}

/* What would have happened without us. */
static void pass_signal_on(int signal, siginfo_t *info, void *context)
{
	bool is_fault = info->si_code > 0;
	struct sigaction action = { .sa_handler = SIG_DFL };

	if (previous.sa_flags & SA_SIGINFO) {
		previous.sa_sigaction(signal, info, context);
	} else if (previous.sa_handler != SIG_DFL && previous.sa_handler != SIG_IGN) {
		previous.sa_handler(signal);
	} else if (is_fault || previous.sa_handler == SIG_DFL) {
		/* A fault comes again by itself; the kernel does not let it be ignored. */
		(void)sigaction(signal, &action, NULL);
		if (!is_fault)
			(void)syscall(SYS_tgkill, getpid(), (pid_t)syscall(SYS_gettid), signal);
	}
}

static void handle_sigbus(int signal, siginfo_t *info, void *context)
{
	int saved_errno = errno;

	/* Of those that somebody sent, si_addr tells nothing. */
	if (info->si_code <= 0 || !replace_pages((uintptr_t)info->si_addr))
		pass_signal_on(signal, info, context);
	errno = saved_errno;
}

/* Each time: a library may have put its own there meanwhile. */
static void install_handler(void)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	struct sigaction action = { .sa_sigaction = handle_sigbus,
				    .sa_flags = SA_SIGINFO | SA_ONSTACK };
	struct sigaction found;

	pthread_mutex_lock(&lock);
	if (sigaction(SIGBUS, NULL, &found) == 0 && found.sa_sigaction != handle_sigbus) {
		/* First, so that the handler never finds it half told. */
		previous = found;
		(void)sigaction(SIGBUS, &action, NULL);
	}
	pthread_mutex_unlock(&lock);
}

void foreign_mapping_unblock_signal(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGBUS);
	(void)pthread_sigmask(SIG_UNBLOCK, &set, NULL);
}

static int take_slot(size_t *ret_slot)
{
	for (size_t i = 0; i < FOREIGN_MAPPINGS_MAX; i++) {
		uintptr_t expected = START_FREE;
		size_t used = atomic_load(&entries_used);

		if (atomic_load(&entries[i].start) != START_FREE ||
		    !atomic_compare_exchange_strong(&entries[i].start, &expected, START_NONE))
			continue;
		while (used <= i && !atomic_compare_exchange_weak(&entries_used, &used, i + 1))
			;
		*ret_slot = i;
		return 0;
	}
	return -EMFILE;
}

static size_t pages_of(size_t size)
{
	return (size + PAGE_BYTES - 1) & ~(PAGE_BYTES - 1);
}

/* The kernel would round their addresses and sizes to theirs. */
static bool has_huge_pages(int fd)
{
	struct statfs status;

	return fstatfs(fd, &status) == 0 && status.f_type == HUGETLBFS_MAGIC;
}

int foreign_mapping_open(int fd, size_t size, struct foreign_mapping *ret_mapping)
{
	struct entry *entry;
	uint8_t *bytes, *zeros;
	size_t slot;
	int error;

	if (size == 0 || size > SIZE_MAX / 2)
		return -EINVAL;
	if (has_huge_pages(fd))
		return -ENOEXEC;
	install_handler();
	foreign_mapping_unblock_signal();
	error = take_slot(&slot);
	if (error)
		return error;
	entry = &entries[slot];
	bytes = mmap(NULL, pages_of(size) + PAGE_BYTES, PROT_READ, MAP_PRIVATE | MAP_NORESERVE, fd,
		     0);
	zeros = bytes == MAP_FAILED ? MAP_FAILED
				    : mmap(bytes + pages_of(size), PAGE_BYTES, PROT_READ,
					   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	if (zeros == MAP_FAILED) {
		error = -errno;
		if (bytes != MAP_FAILED)
			(void)munmap(bytes, pages_of(size) + PAGE_BYTES);
		atomic_store(&entry->start, START_FREE);
		return error;
	}
	atomic_store(&entry->is_writable, false);
	atomic_store(&entry->has_lost, false);
	atomic_store(&entry->end, (uintptr_t)bytes + pages_of(size));
	atomic_store(&entry->start, (uintptr_t)bytes);
	*ret_mapping = (struct foreign_mapping){ .bytes = bytes, .size = size, .slot = slot };
	return 0;
}

void foreign_mapping_close(struct foreign_mapping *mapping)
{
	if (!mapping->bytes)
		return;
	atomic_store(&entries[mapping->slot].start, START_NONE);
	(void)munmap(mapping->bytes, pages_of(mapping->size) + PAGE_BYTES);
	atomic_store(&entries[mapping->slot].start, START_FREE);
	*mapping = (struct foreign_mapping){ 0 };
}

int foreign_mapping_allow_writing(struct foreign_mapping *mapping)
{
	/* First, so that what the handler puts there may be written, too. */
	atomic_store(&entries[mapping->slot].is_writable, true);
	/* The mapping is private: pages become copy-on-write, the file stays as it is. */
	return mprotect(mapping->bytes, pages_of(mapping->size), PROT_READ | PROT_WRITE) ? -errno
											 : 0;
}

bool foreign_mapping_has_lost(const struct foreign_mapping *mapping)
{
	return mapping->bytes && atomic_load(&entries[mapping->slot].has_lost);
}
