/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The processor's own sampling of memory accesses: PMU events whose samples
 * carry the address of a load or store. Found in sysfs, so that what the
 * kernel knows of the processor need not be known here:
 *
 *   cpu, cpu_core, ...  Intel: mem-loads and mem-stores, precise
 *   ibs_op              AMD: every so many operations, loads and stores among them
 *
 * An event is used only when it can leave out the kernel: the signal that ends
 * a sample there would interrupt a system call.
 */
#ifndef PIEPROFD_ATTACH_MEMORY_EVENT_H
#define PIEPROFD_ATTACH_MEMORY_EVENT_H

#include "attach/access.h"

#include <linux/perf_event.h>

#define MEMORY_EVENT_DEVICES "/sys/bus/event_source/devices"
/* Loads and stores, of both kinds of cores where a processor has two. */
#define MEMORY_EVENTS_MAX 4

struct memory_event {
	char name[64]; /* "cpu/mem-loads", "ibs_op" */
	uint32_t type; /* as perf_event_attr has them */
	uint64_t config[3];
	uint8_t kinds; /* ACCESS_LOAD | ACCESS_STORE: what its samples may be */
};

/*
 * The events that sample the given kinds of accesses, by name; those of devices, a folder as
 * MEMORY_EVENT_DEVICES. Returns how many; 0: none, as in most virtual machines.
 */
size_t memory_event_find(const char *devices, uint8_t kinds,
			 struct memory_event ret_events[MEMORY_EVENTS_MAX]);

/*
 * Fills type, config and how the address comes with the sample; the rest of
 * attributes stays. skid_allowed: 0 to 3, from how precise to let the kernel
 * be; to be raised while the event does not open.
 */
void memory_event_attributes(const struct memory_event *event, unsigned skid_allowed,
			     struct perf_event_attr *attributes);

/* What a sample's PERF_SAMPLE_DATA_SRC says it was: ACCESS_LOAD, ACCESS_STORE, both; 0: neither. */
uint8_t memory_event_kinds(const struct memory_event *event, uint64_t data_source);

#endif
