/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the kernel says of pages of the target, whoever asks it: /proc/PID/pagemap of a live
 * process (attach/), a made one in a test.
 */
#ifndef PIEPROFD_COMMON_PAGE_STATE_H
#define PIEPROFD_COMMON_PAGE_STATE_H

#include "common/address.h"

#define PAGE_BYTES 4096u

enum page_state {
	PAGE_PRESENT = 1,   /* in memory; reading another one would change the target */
	PAGE_SWAPPED = 2,   /* reading it would bring it in */
	PAGE_OF_FILE = 4,   /* of a file, or shared: not the process's own */
	PAGE_EXCLUSIVE = 8, /* mapped here alone; the page of zeros that all share is not */
};

struct page_reader {
	/* States of `count` pages from a page's start on. 0 or a negative errno. */
	int (*read)(void *context, remote_addr start, size_t count, uint8_t *ret_states);
	void *context;
};

#endif
