/* SPDX-License-Identifier: Apache-2.0 */
#include "attach/fault_sampler.h"

#include "attach/stop_event.h"
#include "common/clock.h"
#include "common/random.h"

#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* Faults between two samples. */
#define PERIOD_MIN 16u
#define PERIOD_MAX 65536u
/* Of CPU time, before the number is halved: see attach/bpf/clock.bpf.c, next_faults(). */
#define SETTLE_NS (100 * NS_PER_MS)

/* As stop_event_attributes() and the address ask for. */
struct fault_record {
	struct perf_event_header header;
	uint64_t id;
	uint64_t ip;
	uint64_t time;
	uint64_t address;
	uint32_t cpu;
	uint32_t reserved;
	uint64_t count;
	uint64_t running_ns;
};

_Static_assert(sizeof(struct fault_record) == FAULT_RECORD_BYTES, "by which it is known");

int fault_sampler_open(struct fault_sampler *sampler, pid_t tid, int ring_fd, int signal)
{
	struct fault_sampler opened = {
		.opened = true,
		.period = PERIOD_MIN,
		.random = clock_now_ns() | 1,
	};
	struct perf_event_attr attributes;
	int error;

	stop_event_attributes(&attributes);
	attributes.type = PERF_TYPE_SOFTWARE;
	attributes.config = PERF_COUNT_SW_PAGE_FAULTS;
	attributes.sample_period = opened.period;
	attributes.sample_type |= PERF_SAMPLE_ADDR;
	opened.fd = stop_event_open(&attributes, tid, ring_fd);
	if (opened.fd < 0)
		return opened.fd;
	error = stop_event_id(opened.fd, &opened.id);
	if (!error)
		error = stop_event_direct(opened.fd, tid, signal);
	if (error)
		close(opened.fd);
	else
		*sampler = opened;
	return error;
}

void fault_sampler_close(struct fault_sampler *sampler)
{
	if (sampler->opened)
		close(sampler->fd);
	sampler->opened = false;
}

void fault_sampler_enable(struct fault_sampler *sampler, bool enable)
{
	/* Fails only when the thread is gone. */
	if (sampler->opened)
		(void)ioctl(sampler->fd, enable ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE,
			    0);
}

static uint64_t grown(uint64_t before, uint64_t now)
{
	return now > before ? now - before : 0;
}

bool fault_sampler_parse(struct fault_sampler *sampler, const struct event_ring_record *record,
			 struct fault_sample *ret_sample)
{
	struct fault_record fault;

	if (!sampler->opened || record->size != sizeof(fault))
		return false;
	memcpy(&fault, record->bytes, sizeof(fault));
	if (fault.id != sampler->id)
		return false;
	*ret_sample = (struct fault_sample){
		.cpu = fault.cpu,
		.ip = fault.ip,
		.address = fault.address,
		.time_ns = fault.time,
		.running_ns = fault.running_ns,
		.faults = grown(sampler->faults, fault.count),
	};
	sampler->faults = fault.count;
	return true;
}

void fault_sampler_vary(struct fault_sampler *sampler, uint64_t running_ns, uint64_t interval_ns)
{
	uint64_t since_ns = grown(sampler->running_ns, running_ns);
	uint64_t settled_ns = grown(sampler->varied_ns, running_ns), next;

	if (since_ns < interval_ns && sampler->period < PERIOD_MAX) {
		sampler->period *= 2;
		sampler->varied_ns = running_ns;
	} else if (since_ns / 4 > interval_ns && settled_ns > SETTLE_NS) {
		for (; settled_ns > SETTLE_NS && sampler->period > PERIOD_MIN;
		     settled_ns -= SETTLE_NS)
			sampler->period /= 2;
		sampler->varied_ns = running_ns;
	}
	sampler->running_ns = running_ns;
	next = sampler->period / 2 + 1 + random_below(&sampler->random, sampler->period);
	if (sampler->opened)
		(void)ioctl(sampler->fd, PERF_EVENT_IOC_PERIOD, &next);
}
