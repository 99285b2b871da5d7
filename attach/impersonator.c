/* SPDX-License-Identifier: Apache-2.0 */
#include "attach/impersonator.h"

#include "attach/procfs.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/capability.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define BIT(capability)  (1ull << (capability))
#define READING          (BIT(CAP_DAC_OVERRIDE) | BIT(CAP_DAC_READ_SEARCH))
#define SWITCHING        (BIT(CAP_SETUID) | BIT(CAP_SETGID))
#define OVERFLOW_DEFAULT 65534

enum phase {
	PHASE_IDLE,
	PHASE_ASKED,
	PHASE_ANSWERED,
};

struct request {
	struct process_credentials as;
	int root; /* our own descriptor, unless ROOT_OWN */
	char path[PATH_MAX];
	enum root_link link;
	int result;
	bool abandoned; /* nobody waits for the result any more */
};

struct impersonator {
	pthread_t thread;
	pid_t process; /* a copy made by fork(2) has no such thread */
	pthread_mutex_t lock;
	pthread_cond_t changed;
	enum phase phase;
	bool closing;
	struct request request;
	/* The thread's own. */
	struct process_credentials own;
	uint64_t permitted;
	bool all_ids_mapped; /* no id of a target's is hidden behind the overflow id */
	uid_t overflow_user;
	gid_t overflow_group;
	bool broken; /* it could not come back to its own rights */
};

/* ---- the thread: all calls are the kernel's own, as glibc's change every thread ---- */

static bool has_group(const struct process_credentials *credentials, gid_t group)
{
	if (credentials->group == group)
		return true;
	for (size_t i = 0; i < credentials->group_count; i++)
		if (credentials->groups[i] == group)
			return true;
	return false;
}

/* Whether our own ids give no right that theirs do not. */
static bool own_ids_will_do(const struct process_credentials *own,
			    const struct process_credentials *as)
{
	if (own->user != as->user || own->groups_cut || !has_group(as, own->group))
		return false;
	for (size_t i = 0; i < own->group_count; i++)
		if (!has_group(as, own->groups[i]))
			return false;
	return true;
}

static int set_ids(const struct process_credentials *as)
{
	if (syscall(SYS_setgroups, as->group_count, as->groups))
		return -errno;
	/* These two return what was, whatever they did. */
	(void)setfsgid(as->group);
	(void)setfsuid(as->user);
	return (gid_t)setfsgid((gid_t)-1) == as->group && (uid_t)setfsuid((uid_t)-1) == as->user
		       ? 0
		       : -EPERM;
}

static int take_rights(struct impersonator *impersonator, const struct process_credentials *as)
{
	uint64_t reading = as->capabilities & READING ? impersonator->permitted & READING : 0;

	if (as->groups_cut ||
	    (!impersonator->all_ids_mapped && (as->user == impersonator->overflow_user ||
					       as->group == impersonator->overflow_group)))
		return -EPERM;
	if (!own_ids_will_do(&impersonator->own, as) &&
	    ((impersonator->permitted & SWITCHING) != SWITCHING || set_ids(as)))
		return -EPERM;
	/* A change of the user may have changed them, too. */
	return credentials_set_capabilities(reading, impersonator->permitted);
}

static void give_back_rights(struct impersonator *impersonator,
			     const struct process_credentials *as)
{
	const struct process_credentials *own = &impersonator->own;
	uint64_t switching = impersonator->permitted & SWITCHING;

	if (credentials_set_capabilities(switching, impersonator->permitted) ||
	    (!own_ids_will_do(own, as) && switching == SWITCHING && set_ids(own)) ||
	    credentials_set_capabilities(switching, impersonator->permitted))
		impersonator->broken = true;
}

static int answer_open(struct impersonator *impersonator, const struct request *request)
{
	int result = IMPERSONATOR_REFUSED;

	if (impersonator->broken)
		return result;
	if (!take_rights(impersonator, &request->as))
		result = root_file_open(request->root, request->path, request->link);
	give_back_rights(impersonator, &request->as);
	return result;
}

static void *impersonate(void *context)
{
	struct impersonator *impersonator = context;

	(void)prctl(PR_SET_NAME, "impersonator");
	/* What it does not need; to hold more would do no harm while nothing else runs here. */
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    credentials_set_capabilities(impersonator->permitted & SWITCHING,
					 impersonator->permitted))
		impersonator->broken = true;
	pthread_mutex_lock(&impersonator->lock);
	while (!impersonator->closing) {
		struct request *request = &impersonator->request;
		int result;

		if (impersonator->phase != PHASE_ASKED) {
			pthread_cond_wait(&impersonator->changed, &impersonator->lock);
			continue;
		}
		pthread_mutex_unlock(&impersonator->lock);
		result = answer_open(impersonator, request);
		pthread_mutex_lock(&impersonator->lock);
		if (request->root != ROOT_OWN)
			close(request->root);
		request->result = result;
		impersonator->phase = PHASE_ANSWERED;
		if (request->abandoned) {
			if (result >= 0)
				close(result);
			impersonator->phase = PHASE_IDLE;
		}
		pthread_cond_broadcast(&impersonator->changed);
	}
	pthread_mutex_unlock(&impersonator->lock);
	return NULL;
}

/* ---- those who ask ---- */

/* Outside of the first user namespace, ids without a number here all read alike. */
static void read_mapping(struct impersonator *impersonator)
{
	unsigned inside, outside, count;
	FILE *file = fopen("/proc/self/uid_map", "re");

	impersonator->all_ids_mapped = file &&
				       fscanf(file, "%u %u %u", &inside, &outside, &count) == 3 &&
				       !inside && !outside && count == UINT32_MAX;
	if (file)
		fclose(file);
	impersonator->overflow_user =
		(uid_t)procfs_read_setting("/proc/sys/kernel/overflowuid", OVERFLOW_DEFAULT);
	impersonator->overflow_group =
		(gid_t)procfs_read_setting("/proc/sys/kernel/overflowgid", OVERFLOW_DEFAULT);
}

static int read_own_rights(struct impersonator *impersonator)
{
	struct process_status status = { 0 };
	int error = procfs_read_credentials(getpid(), &impersonator->own);

	if (!error)
		error = procfs_read_status(getpid(), (pid_t)syscall(SYS_gettid), &status);
	if (!error)
		impersonator->permitted = status.capabilities_permitted & (READING | SWITCHING);
	return error;
}

static int make_condition(pthread_cond_t *condition)
{
	pthread_condattr_t attributes;
	int error;

	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	error = pthread_cond_init(condition, &attributes);
	pthread_condattr_destroy(&attributes);
	return -error;
}

struct impersonator *impersonator_create(void)
{
	struct impersonator *impersonator = calloc(1, sizeof(*impersonator));
	sigset_t all, before;
	int error;

	if (!impersonator)
		return NULL;
	impersonator->process = getpid();
	read_mapping(impersonator);
	if (read_own_rights(impersonator) || make_condition(&impersonator->changed)) {
		free(impersonator);
		return NULL;
	}
	pthread_mutex_init(&impersonator->lock, NULL);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	error = pthread_create(&impersonator->thread, NULL, impersonate, impersonator);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (!error)
		return impersonator;
	pthread_cond_destroy(&impersonator->changed);
	pthread_mutex_destroy(&impersonator->lock);
	free(impersonator);
	return NULL;
}

void impersonator_destroy(struct impersonator *impersonator)
{
	bool held_up;

	if (!impersonator || impersonator->process != getpid())
		return;
	pthread_mutex_lock(&impersonator->lock);
	impersonator->closing = true;
	held_up = impersonator->phase == PHASE_ASKED;
	pthread_cond_broadcast(&impersonator->changed);
	pthread_mutex_unlock(&impersonator->lock);
	if (held_up) {
		/* It may never come back. The process's end ends it, and frees what it has. */
		pthread_detach(impersonator->thread);
		return;
	}
	pthread_join(impersonator->thread, NULL);
	pthread_cond_destroy(&impersonator->changed);
	pthread_mutex_destroy(&impersonator->lock);
	free(impersonator);
}

/* With the lock; false: the time is over. */
static bool wait_for(struct impersonator *impersonator, enum phase phase,
		     const struct timespec *deadline)
{
	while (impersonator->phase != phase)
		if (pthread_cond_timedwait(&impersonator->changed, &impersonator->lock, deadline))
			return impersonator->phase == phase;
	return true;
}

static int ask(struct impersonator *impersonator, const struct process_credentials *as, int root,
	       const char *path, enum root_link link, const struct timespec *deadline)
{
	struct request *request = &impersonator->request;

	/* Who waits for a file system that did not answer the one before would wait, too. */
	if ((impersonator->phase == PHASE_ASKED && request->abandoned) ||
	    !wait_for(impersonator, PHASE_IDLE, deadline))
		return -ETIMEDOUT;
	request->as = *as;
	request->root = root == ROOT_OWN ? ROOT_OWN : fcntl(root, F_DUPFD_CLOEXEC, 0);
	if (root != ROOT_OWN && request->root < 0)
		return -errno;
	memcpy(request->path, path, strlen(path) + 1);
	request->link = link;
	request->abandoned = false;
	impersonator->phase = PHASE_ASKED;
	pthread_cond_broadcast(&impersonator->changed);
	if (!wait_for(impersonator, PHASE_ANSWERED, deadline)) {
		request->abandoned = true;
		return -ETIMEDOUT;
	}
	impersonator->phase = PHASE_IDLE;
	pthread_cond_broadcast(&impersonator->changed);
	return request->result;
}

int impersonator_open(struct impersonator *impersonator, const struct process_credentials *as,
		      int root, const char *path, enum root_link link)
{
	struct timespec deadline;
	int result;

	if (strlen(path) >= PATH_MAX)
		return -ENAMETOOLONG;
	if (!impersonator || impersonator->process != getpid())
		return IMPERSONATOR_REFUSED;
	clock_gettime(CLOCK_MONOTONIC, &deadline);
	deadline.tv_sec += (time_t)(IMPERSONATOR_WAIT_NS / NS_PER_SECOND);
	pthread_mutex_lock(&impersonator->lock);
	result = ask(impersonator, as, root, path, link, &deadline);
	pthread_mutex_unlock(&impersonator->lock);
	return result;
}
