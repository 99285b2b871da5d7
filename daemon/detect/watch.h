/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A watch: one memory sample and the debug register it uses, from the moment it
 * gets one until it ends. What becomes of it in between is watch_machine.h's.
 *
 * All that a watch wants of the kernel and of the stopped thread comes through
 * struct watch_hooks.
 */
#ifndef PIEPROFD_DAEMON_DETECT_WATCH_H
#define PIEPROFD_DAEMON_DETECT_WATCH_H

#include "attach/thread_events.h"
#include "attach/trap_instruction.h"
#include "daemon/capture/capture.h"
#include "daemon/capture/loss.h"
#include "daemon/cct/pair_table.h"
#include "daemon/detect/access_search.h"
#include "daemon/detect/slot_policy.h"

enum watch_phase {
	WATCH_FREE,
	WATCH_STEPPING,
	WATCH_BOUNDARY,
	WATCH_WATCHING,
	WATCH_SETTLING, /* decided, but what the later call leaves in the end is looked at too */
	WATCH_LENT,     /* to another purpose */
	WATCH_DECIDED,  /* until the later context is known */
};

struct watch {
	enum watch_phase phase;
	struct access_sought sought;
	const struct cct_node *first;  /* calling context of the earlier access */
	const struct cct_node *second; /* of the later one, once it settles */
	bool wants_context;            /* this stop's context is the earlier one */
	unsigned later;                /* traps after the verdict */
	unsigned passed;               /* stops that were not the one awaited */
	remote_addr boundary;          /* where its native call returns to ... */
	remote_addr boundary_sp;       /* ... and with which stack pointer */
	struct access access;
	struct address_range watched;
	struct address_range compared; /* of it, what the later access touched */
	uint8_t value[8];
	uint64_t armed_ns;   /* when the present phase began */
	uint64_t running_ns; /* the same in the event's on-CPU time */
	struct pair_evidence evidence;
	bool judged;      /* verdict and second are known, but there is more to learn */
	bool overwritten; /* a store that is no native library's changed it meanwhile */
	enum access_verdict verdict;
};

/* Those of one thread, by slot. */
struct watch_thread {
	struct watch watches[SLOT_POLICY_SLOTS];
	struct slot_policy policy;
};

/* Each is called with context and does what its namesake elsewhere does. */
struct watch_hooks {
	void *context;
	/* breakpoint_arm(), breakpoint_disarm(), breakpoint_running_ns(). */
	int (*arm)(void *context, unsigned slot, enum breakpoint_type type, remote_addr address,
		   size_t length);
	void (*disarm)(void *context, unsigned slot);
	uint64_t (*running_ns)(void *context, unsigned slot);
	uint64_t (*now_ns)(void *context);
	/* memory_read() */
	int (*read)(void *context, remote_addr address, void *buffer, size_t size);
	/* sample_filter_code(), sample_filter_call() */
	enum loss (*filter_code)(void *context, remote_addr instruction);
	enum loss (*filter_call)(void *context, struct capture *capture);
	/* access_search_next() */
	enum loss (*search)(void *context, struct capture *capture, struct access_sought *sought,
			    struct access_found *ret_found);
	/* trap_decode() */
	int (*trap)(void *context, const struct capture *capture, struct address_range watched,
		    struct trap_instruction *ret_instruction);
	/* object_memory_class(); the thread runs. */
	enum memory_class (*memory_class)(void *context, remote_addr address);
};

/* What the watches of all threads of a process share. pairs and losses are borrowed. */
struct watch_process {
	struct watch_hooks hooks;
	struct pair_table *pairs;
	struct losses *losses;
	uint64_t timeout_ns; /* a watch without a trap ends as "never re-accessed" */
	/*
	 * The least on-CPU time ever seen from a stop to a boundary: what the
	 * kernel needs to resume a thread. Subtracted from the durations of calls.
	 * UINT64_MAX: none was seen.
	 */
	uint64_t resume_ns;
};

void watch_lose(struct watch_process *process, enum loss loss);

/* A slot for a new sample, its old watch ended; SLOT_NONE: the reservoir keeps what it has. */
int watch_claim(struct watch_process *process, struct watch_thread *thread);

/* Sets the slot's breakpoint for the phase that begins. 0, or that of breakpoint_arm(). */
__attribute__((warn_unused_result)) int watch_arm(struct watch_process *process,
						  struct watch_thread *thread, int slot,
						  enum breakpoint_type type, remote_addr address,
						  size_t length);

/* The pair of a watch that has its verdict and both contexts. */
void watch_count(struct watch_process *process, const struct watch *watch);

/* Ends a watch before its time; what it has found counts. */
void watch_give_up(struct watch_process *process, struct watch_thread *thread, int slot,
		   enum loss loss);

/* Ends it, and counts nothing. */
void watch_end(struct watch_process *process, struct watch_thread *thread, int slot);
/* The same of one that is disarmed. */
void watch_free(struct watch_thread *thread, int slot);

#endif
