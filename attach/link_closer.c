/* SPDX-License-Identifier: Apache-2.0 */
#include "attach/link_closer.h"

#include <signal.h>
#include <string.h>
#include <unistd.h>

static void *close_all(void *context)
{
	const struct link_closer *closer = context;

	for (size_t i = 0; i < closer->count; i++)
		close(closer->fds[i]);
	return NULL;
}

void link_closer_close(struct link_closer *closer, const int *fds, size_t count, bool at_once)
{
	sigset_t all, before;

	if (!count)
		return;
	(void)link_closer_is_done(closer, true);
	memcpy(closer->fds, fds, count * sizeof(fds[0]));
	closer->count = count;
	/* Signals are the other threads' business. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	closer->busy = !at_once && !pthread_create(&closer->thread, NULL, close_all, closer);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (!closer->busy)
		(void)close_all(closer);
}

bool link_closer_is_done(struct link_closer *closer, bool wait)
{
	if (closer->busy && (wait ? pthread_join(closer->thread, NULL)
				  : pthread_tryjoin_np(closer->thread, NULL)) == 0)
		closer->busy = false;
	return !closer->busy;
}
