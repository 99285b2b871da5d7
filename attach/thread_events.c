/* SPDX-License-Identifier: Apache-2.0 */
#include "attach/thread_events.h"

#include "attach/stop_event.h"
#include "common/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/*
 * Until a thread that is stopped again has its first stop. The kernel's own code is not
 * stopped in, and is interrupted so often meanwhile.
 */
#define SOON_NS (200 * NS_PER_US)

/* A record as asked for by sample_type and read_format below. */
struct sample_record {
	struct perf_event_header header;
	uint64_t id;
	uint64_t ip;
	uint64_t time;
	uint32_t cpu;
	uint32_t reserved;
	uint64_t count;
	uint64_t running_ns;
};

/* The same of an event with memory_event_attributes(). */
struct memory_record {
	struct perf_event_header header;
	uint64_t id;
	uint64_t ip;
	uint64_t time;
	uint64_t address;
	uint32_t cpu;
	uint32_t reserved;
	uint64_t count;
	uint64_t running_ns;
	uint64_t data_source;
};

static void direct_clock(struct thread_events *events, pid_t tid, int signal, bool owner_first)
{
	struct f_owner_ex owner = { .type = F_OWNER_TID, .pid = tid };

	/* Fails only when a thread is gone. The stop signal never gets to a thread that
	 * blocks it, the other one never to the target. */
	if (owner_first)
		(void)fcntl(events->clock_fd, F_SETOWN_EX, &owner);
	(void)fcntl(events->clock_fd, F_SETSIG, signal);
	if (!owner_first)
		(void)fcntl(events->clock_fd, F_SETOWN_EX, &owner);
}

/* 0: unknown. */
static uint64_t event_running_ns(int fd)
{
	uint64_t values[2];

	return fd >= 0 && read(fd, values, sizeof(values)) == sizeof(values) ? values[1] : 0;
}

int thread_events_open(struct thread_events *events, pid_t tid, int signal, uint64_t period_ns)
{
	return thread_events_open_after(events, tid, signal, period_ns,
					(struct sampling_rest){ 0 });
}

uint64_t thread_events_running_ns(const struct thread_events *events)
{
	return event_running_ns(events->clock_fd);
}

int thread_events_open_after(struct thread_events *events, pid_t tid, int signal,
			     uint64_t period_ns, struct sampling_rest rest)
{
	struct perf_event_attr attributes;
	int error;

	*events = (struct thread_events){
		.tid = tid,
		.signal = signal,
		.clock_fd = -1,
	};
	for (unsigned slot = 0; slot < BREAKPOINT_SLOTS; slot++)
		events->slots[slot].fd = -1;
	sampling_interval_start(&events->interval, period_ns, clock_now_ns() ^ (uint64_t)tid << 40);
	sampling_interval_continue(&events->interval, rest);
	events->owed_ns = rest.owed_ns;
	stop_event_attributes(&attributes);
	attributes.type = PERF_TYPE_SOFTWARE;
	attributes.config = PERF_COUNT_SW_CPU_CLOCK;
	attributes.sample_period = events->interval.ns;
	events->clock_fd = stop_event_open(&attributes, tid, -1);
	if (events->clock_fd < 0)
		return events->clock_fd;
	error = event_ring_map(&events->ring, events->clock_fd);
	if (!error)
		error = stop_event_id(events->clock_fd, &events->clock_id);
	if (!error)
		error = stop_event_direct(events->clock_fd, tid, signal);
	if (error)
		thread_events_close(events);
	return error;
}

void thread_events_let_go(struct thread_events *events)
{
	events->ring = (struct event_ring){ 0 };
	thread_events_close(events);
}

void thread_events_rearm(struct thread_events *events)
{
	for (unsigned slot = 0; slot < BREAKPOINT_SLOTS; slot++)
		if (events->slots[slot].fd >= 0 && events->slots[slot].enabled)
			(void)ioctl(events->slots[slot].fd, PERF_EVENT_IOC_ENABLE, 0);
}

static uint64_t rate_hz(uint64_t period_ns)
{
	return period_ns < NS_PER_SECOND ? NS_PER_SECOND / period_ns : 1;
}

int thread_events_add_memory(struct thread_events *events, const struct memory_event *event)
{
	struct memory_sampler sampler = { .fd = -EINVAL, .event = event };
	int error;

	if (events->memory_count == MEMORY_EVENTS_MAX)
		return -ENOSPC;
	/* The most precise that the kernel accepts. */
	for (unsigned skid = 0; skid <= 3 && sampler.fd < 0; skid++) {
		struct perf_event_attr attributes;

		stop_event_attributes(&attributes);
		memory_event_attributes(event, skid, &attributes);
		/* How many accesses that is, the kernel finds out. */
		attributes.freq = 1;
		attributes.sample_freq = rate_hz(events->interval.period_ns);
		sampler.fd = stop_event_open(&attributes, events->tid, events->clock_fd);
	}
	if (sampler.fd < 0)
		return sampler.fd;
	error = stop_event_id(sampler.fd, &sampler.id);
	if (!error)
		error = stop_event_direct(sampler.fd, events->tid, events->signal);
	if (error) {
		close(sampler.fd);
		return error;
	}
	events->memory[events->memory_count++] = sampler;
	return 0;
}

int thread_events_add_faults(struct thread_events *events)
{
	return fault_sampler_open(&events->fault, events->tid, events->clock_fd, events->signal);
}

void thread_events_remove_memory(struct thread_events *events)
{
	for (size_t i = 0; i < events->memory_count; i++)
		close(events->memory[i].fd);
	events->memory_count = 0;
	fault_sampler_close(&events->fault);
}

void thread_events_close(struct thread_events *events)
{
	thread_events_remove_memory(events);
	for (unsigned slot = 0; slot < BREAKPOINT_SLOTS; slot++) {
		if (events->slots[slot].fd >= 0)
			close(events->slots[slot].fd);
		events->slots[slot].fd = -1;
	}
	/* Before the close: a mapping keeps its event alive. */
	event_ring_unmap(&events->ring);
	if (events->clock_fd >= 0)
		close(events->clock_fd);
	events->clock_fd = -1;
}

static void enable_memory(struct thread_events *events, bool enable)
{
	for (size_t i = 0; i < events->memory_count; i++)
		(void)ioctl(events->memory[i].fd,
			    enable ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE, 0);
	fault_sampler_enable(&events->fault, enable);
}

void thread_events_enable_clock(struct thread_events *events, bool enable)
{
	unsigned long request = enable ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE;

	/* Fails only when the thread is gone. */
	if (events->clock_fd >= 0)
		(void)ioctl(events->clock_fd, request, 0);
	enable_memory(events, enable && !events->unstopped);
}

/* 0 or a negative errno; the interval stays as it was then. */
static int set_clock_interval(struct thread_events *events, struct sampling_interval next)
{
	if (ioctl(events->clock_fd, PERF_EVENT_IOC_PERIOD, &next.ns))
		return -errno;
	events->interval = next;
	return 0;
}

int thread_events_set_period(struct thread_events *events, uint64_t period_ns)
{
	struct sampling_interval next = events->interval;
	uint64_t old_ns = events->interval.period_ns;
	int error;

	if (events->clock_fd < 0)
		return -EBADF;
	sampling_interval_change(&next, period_ns, event_running_ns(events->clock_fd));
	error = set_clock_interval(events, next);
	if (error)
		return error;
	if (period_ns != old_ns)
		for (size_t i = 0; i < events->memory_count; i++) {
			uint64_t rate = rate_hz(period_ns);

			(void)ioctl(events->memory[i].fd, PERF_EVENT_IOC_PERIOD, &rate);
		}
	return 0;
}

void thread_events_delay_first(struct thread_events *events, uint64_t least_ns)
{
	struct sampling_interval next = events->interval;

	if (events->unstopped || events->clock_fd < 0)
		return;
	sampling_interval_delay(&next, least_ns);
	/* Fails only when the thread is gone. */
	if (next.ns != events->interval.ns)
		(void)set_clock_interval(events, next);
}

void thread_events_delay_clock(struct thread_events *events, uint64_t least_ns)
{
	events->interval.least_ns = least_ns;
}

void thread_events_vary_clock(struct thread_events *events)
{
	struct sampling_interval next = events->interval;
	uint64_t running_ns = event_running_ns(events->clock_fd);

	if (events->soon && events->soon_ns && running_ns > events->soon_ns)
		events->owed_ns += running_ns - events->soon_ns;
	events->soon = false;
	/* What has passed was just charged. Fails only when the thread is gone. */
	sampling_interval_next(&next, next.period_ns, running_ns);
	(void)set_clock_interval(events, next);
}

void thread_events_vary_passed(struct thread_events *events, uint64_t running_ns)
{
	uint64_t now_ns = event_running_ns(events->clock_fd);

	if (now_ns > running_ns && !events->soon)
		events->owed_ns += now_ns - running_ns;
	thread_events_vary_clock(events);
}

void thread_events_direct_away(struct thread_events *events, pid_t tid, int signal)
{
	if (events->clock_fd < 0)
		return;
	for (unsigned slot = 0; slot < BREAKPOINT_SLOTS; slot++)
		breakpoint_disarm(events, slot);
	enable_memory(events, false);
	events->unstopped = true;
	direct_clock(events, tid, signal, true);
}

void thread_events_direct_back(struct thread_events *events, bool enabled, bool soon)
{
	uint64_t ns = SOON_NS;

	if (events->clock_fd < 0)
		return;
	direct_clock(events, events->tid, events->signal, false);
	events->unstopped = false;
	enable_memory(events, enabled);
	/* The interval in force stays: it is what the record stands for. */
	events->soon = soon && !ioctl(events->clock_fd, PERF_EVENT_IOC_PERIOD, &ns);
	events->soon_ns = 0;
}

static void breakpoint_attributes(struct perf_event_attr *attributes, enum breakpoint_type type,
				  remote_addr address, size_t length)
{
	static const unsigned types[] = {
		[BREAKPOINT_EXECUTE] = HW_BREAKPOINT_X,
		[BREAKPOINT_WRITE] = HW_BREAKPOINT_W,
		[BREAKPOINT_READ_WRITE] = HW_BREAKPOINT_RW,
	};

	stop_event_attributes(attributes);
	attributes->type = PERF_TYPE_BREAKPOINT;
	attributes->sample_period = 1;
	attributes->bp_type = types[type];
	attributes->bp_addr = address;
	attributes->bp_len = type == BREAKPOINT_EXECUTE ? sizeof(long) : length;
}

static void set_enabled(struct thread_events *events, struct breakpoint_event *event, bool enabled)
{
	uint64_t now_ns;

	if (event->enabled == enabled)
		return;
	event->enabled = enabled;
	now_ns = clock_now_ns();
	if (enabled && !events->armed++)
		events->armed_since_ns = now_ns;
	else if (!enabled && !--events->armed)
		events->armed_ns += now_ns - events->armed_since_ns;
}

uint64_t thread_events_armed_ns(const struct thread_events *events, uint64_t now_ns)
{
	return events->armed && now_ns > events->armed_since_ns
		       ? events->armed_ns + now_ns - events->armed_since_ns
		       : events->armed_ns;
}

int breakpoint_arm(struct thread_events *events, unsigned slot, enum breakpoint_type type,
		   remote_addr address, size_t length)
{
	struct breakpoint_event *event = &events->slots[slot];
	struct perf_event_attr attributes;
	int error;

	breakpoint_attributes(&attributes, type, address, length);
	if (event->fd < 0) {
		if (event->refused)
			return -ENOSPC;
		event->fd = stop_event_open(&attributes, events->tid, events->clock_fd);
		if (event->fd < 0) {
			error = event->fd;
			event->fd = -1;
			event->refused = error == -ENOSPC;
			return error;
		}
		error = stop_event_id(event->fd, &event->id);
		if (!error)
			error = stop_event_direct(event->fd, events->tid, events->signal);
		if (!error && ioctl(event->fd, PERF_EVENT_IOC_ENABLE, 0))
			error = -errno;
		if (error) {
			close(event->fd);
			event->fd = -1;
			return error;
		}
		set_enabled(events, event, true);
		return 0;
	}
	/*
	 * Re-aiming enables the event only when it was enabled before; an event
	 * that is at rest is enabled on its own.
	 */
	attributes.disabled = 0;
	if (ioctl(event->fd, PERF_EVENT_IOC_MODIFY_ATTRIBUTES, &attributes))
		return -errno;
	if (!event->enabled && ioctl(event->fd, PERF_EVENT_IOC_ENABLE, 0))
		return -errno;
	set_enabled(events, event, true);
	return 0;
}

void breakpoint_disarm(struct thread_events *events, unsigned slot)
{
	struct breakpoint_event *event = &events->slots[slot];

	if (event->fd < 0 || !event->enabled)
		return;
	(void)ioctl(event->fd, PERF_EVENT_IOC_DISABLE, 0);
	set_enabled(events, event, false);
}

uint64_t breakpoint_running_ns(const struct thread_events *events, unsigned slot)
{
	return event_running_ns(events->slots[slot].fd);
}

static const struct memory_sampler *find_memory_sampler(const struct thread_events *events,
							uint64_t id)
{
	for (size_t i = 0; i < events->memory_count; i++)
		if (events->memory[i].id == id)
			return &events->memory[i];
	return NULL;
}

static bool record_source(const struct thread_events *events, uint64_t id, unsigned *ret_source)
{
	if (id == events->clock_id) {
		*ret_source = EVENT_CLOCK;
		return true;
	}
	for (unsigned slot = 0; slot < BREAKPOINT_SLOTS; slot++) {
		if (events->slots[slot].fd >= 0 && events->slots[slot].id == id) {
			*ret_source = slot;
			return true;
		}
	}
	return false;
}

static bool parse_memory_record(const struct thread_events *events,
				const struct event_ring_record *raw, struct event_record *ret)
{
	const struct memory_sampler *sampler;
	struct memory_record record;

	if (raw->size != sizeof(record))
		return false;
	memcpy(&record, raw->bytes, sizeof(record));
	sampler = find_memory_sampler(events, record.id);
	if (!sampler)
		return false;
	*ret = (struct event_record){
		.source = EVENT_MEMORY,
		.cpu = record.cpu,
		.ip = record.ip,
		.time_ns = record.time,
		.running_ns = record.running_ns,
		.address = record.address,
		.kinds = memory_event_kinds(sampler->event, record.data_source),
	};
	return true;
}

static bool parse_fault_record(struct thread_events *events, const struct event_ring_record *raw,
			       struct event_record *ret)
{
	struct fault_sample sample;

	if (!fault_sampler_parse(&events->fault, raw, &sample))
		return false;
	*ret = (struct event_record){
		.source = EVENT_FAULT,
		.cpu = sample.cpu,
		.ip = sample.ip,
		.time_ns = sample.time_ns,
		.running_ns = sample.running_ns,
		.address = sample.address,
		.faults = sample.faults,
	};
	return true;
}

static bool parse_record(struct thread_events *events, const struct event_ring_record *raw,
			 struct event_record *ret)
{
	struct sample_record record;
	unsigned source;

	if (raw->size == FAULT_RECORD_BYTES)
		return parse_fault_record(events, raw, ret);
	if (raw->size != sizeof(record))
		return parse_memory_record(events, raw, ret);
	memcpy(&record, raw->bytes, sizeof(record));
	if (!record_source(events, record.id, &source))
		return false;
	*ret = (struct event_record){
		.source = source,
		.cpu = record.cpu,
		.ip = record.ip,
		.time_ns = record.time,
		.running_ns = record.running_ns,
	};
	if (source == EVENT_CLOCK)
		ret->stands_for_ns =
			sampling_interval_charge(&events->interval, record.running_ns, true);
	return true;
}

static void settle_charge(struct thread_events *events, struct event_record *record)
{
	if (record->source != EVENT_CLOCK)
		return;
	/* The stop that was to come soon: the record before it has all its time. */
	if (events->soon_ns && events->soon)
		record->stands_for_ns = 0;
	else if (events->soon)
		events->soon_ns = record->running_ns;
	record->stands_for_ns += events->owed_ns;
	events->owed_ns = 0;
}

size_t thread_events_drain(struct thread_events *events, struct event_record *records,
			   size_t maximum)
{
	struct event_ring_record raw;
	size_t count = 0;

	while (count < maximum && event_ring_next(&events->ring, &raw))
		if (raw.type == PERF_RECORD_SAMPLE && parse_record(events, &raw, &records[count])) {
			settle_charge(events, &records[count]);
			count++;
		}
	return count;
}

struct sampling_rest thread_events_rest(struct thread_events *events)
{
	uint64_t running_ns = event_running_ns(events->clock_fd), sampled_ns = 0, unread_ns = 0;
	struct sampling_rest rest = { 0 };
	struct event_record record;

	while (thread_events_drain(events, &record, 1))
		if (record.source == EVENT_CLOCK && record.stands_for_ns) {
			sampled_ns = record.running_ns;
			unread_ns += record.stands_for_ns;
		}
	/* Its stop did not come, or the thread was gone before it was read: another's is to stand
	 * for it. */
	if (unread_ns)
		rest = (struct sampling_rest){
			.left_ns = SOON_NS,
			.whole_ns =
				SOON_NS + (running_ns > sampled_ns ? running_ns - sampled_ns : 0),
		};
	else if (running_ns)
		rest = sampling_interval_rest(&events->interval, running_ns);
	rest.owed_ns = unread_ns + events->owed_ns;
	events->owed_ns = 0;
	return rest;
}

bool thread_events_pending(const struct thread_events *events)
{
	return event_ring_pending(&events->ring);
}

bool thread_events_own(const struct thread_events *events, int fd)
{
	if (fd < 0)
		return false;
	if (fd == events->clock_fd || (events->fault.opened && fd == events->fault.fd))
		return true;
	for (unsigned slot = 0; slot < BREAKPOINT_SLOTS; slot++)
		if (fd == events->slots[slot].fd)
			return true;
	for (size_t i = 0; i < events->memory_count; i++)
		if (fd == events->memory[i].fd)
			return true;
	return false;
}
