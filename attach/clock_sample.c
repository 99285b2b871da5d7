/* SPDX-License-Identifier: Apache-2.0 */
#include "attach/clock_sample.h"

#include <errno.h>
#include <string.h>

#define RANGES_AT_ONCE 128

static const uint8_t *take_piece(const uint8_t *at, const uint8_t *end, struct clock_piece *ret)
{
	size_t padded;

	if ((size_t)(end - at) < sizeof(*ret))
		return NULL;
	memcpy(ret, at, sizeof(*ret));
	at += sizeof(*ret);
	padded = ((size_t)ret->bytes + 7) & ~(size_t)7;
	if (!ret->bytes || ret->bytes > CLOCK_PAGE_BYTES || ret->address > INT64_MAX ||
	    (size_t)(end - at) < padded)
		return NULL;
	return at + padded;
}

static void take_kernel(struct clock_sample *sample, const uint8_t *bytes, size_t size)
{
	size_t count = size / sizeof(uint64_t);

	sample->kernel = bytes;
	sample->kernel_count = count < CLOCK_KERNEL_MAX ? count : CLOCK_KERNEL_MAX;
}

static void take_pieces(struct clock_sample *sample, const uint8_t *at, const uint8_t *end)
{
	struct clock_piece piece;
	const uint8_t *next;

	while (sample->piece_count < CLOCK_SAMPLE_PIECES_MAX &&
	       (next = take_piece(at, end, &piece))) {
		/* No memory of the target's: it must not hide any. */
		if (piece.kind == CLOCK_PIECE_KERNEL) {
			take_kernel(sample, at + sizeof(piece), piece.bytes);
			at = next;
			continue;
		}
		/* The stack is copied last, and its pages in their order. */
		if (piece.kind == CLOCK_PIECE_STACK)
			sample->stack_pieces++;
		sample->pieces[sample->piece_count++] = (struct memory_piece){
			.address = piece.address,
			.size = piece.bytes,
			.bytes = at + sizeof(piece),
		};
		at = next;
	}
}

int clock_sample_parse(const void *record, size_t size, struct clock_sample *ret_sample)
{
	struct clock_sample *sample = ret_sample;
	struct clock_record head;

	if (size < sizeof(head))
		return -EBADMSG;
	memcpy(&head, record, sizeof(head));
	sample->released = head.flags & CLOCK_RELEASE;
	sample->allocation = 0;
	sample->piece_count = sample->stack_pieces = sample->kernel_count = 0;
	if (sample->released || head.flags & CLOCK_ALLOCATION)
		sample->allocation = (uint32_t)head.since_ns;
	if (sample->released)
		return sample->allocation ? 0 : -EBADMSG;
	if (!head.tid || head.tid > INT32_MAX || head.inner_tid > INT32_MAX)
		return -EBADMSG;
	sample->time_ns = head.time_ns;
	sample->stands_for_ns = head.since_ns;
	sample->started_ns = head.started_ns;
	sample->cost_ns = head.cost_ns;
	sample->state = head.state;
	sample->tid = (pid_t)head.tid;
	sample->inner_tid = (pid_t)head.inner_tid;
	sample->cpu = head.cpu;
	sample->in_kernel = head.flags & CLOCK_IN_KERNEL;
	sample->cut_short = head.flags & CLOCK_CUT_SHORT;
	sample->fault = head.flags & CLOCK_FAULT ? head.fault : 0;
	sample->faults = head.flags & CLOCK_FAULT ? head.faults : 0;
	sample->allocated_bytes = sample->allocation ? head.fault : 0;
	sample->allocation_bytes = sample->allocation ? head.faults : 0;
	memcpy(sample->comm, head.comm, sizeof(sample->comm));
	sample->comm[sizeof(sample->comm) - 1] = '\0';
	sample->registers = (struct registers){ .rip = head.registers[CLOCK_REGISTER_IP] };
	memcpy(sample->registers.general, head.registers, sizeof(sample->registers.general));
	sample->system_call = head.system_call >= 0 && head.system_call <= CLOCK_SYSTEM_CALL_MAX
				      ? (long)head.system_call
				      : -1;
	sample->kernel = NULL;
	take_pieces(sample, (const uint8_t *)record + sizeof(head), (const uint8_t *)record + size);
	return 0;
}

uint64_t clock_sample_kernel_address(const struct clock_sample *sample, size_t index)
{
	uint64_t address;

	memcpy(&address, sample->kernel + index * sizeof(address), sizeof(address));
	return address;
}

struct stack_snapshot clock_sample_stack(const struct clock_sample *sample, uint8_t *bytes)
{
	size_t first = sample->piece_count - sample->stack_pieces;
	struct stack_snapshot stack = { .bytes = bytes };

	for (size_t i = first; i < sample->piece_count; i++) {
		const struct memory_piece *piece = &sample->pieces[i];

		if (i == first)
			stack.start = piece->address;
		if (piece->address != stack.start + stack.size ||
		    piece->size > CLOCK_SAMPLE_STACK_BYTES - stack.size)
			break;
		memcpy(bytes + stack.size, piece->bytes, piece->size);
		stack.size += piece->size;
	}
	return stack;
}

/* ---- reading ---- */

/* More than any stack that unwinds. */
#define STACK_BEYOND_BYTES (1u << 20)

static remote_addr stack_end_of(const struct clock_sample *sample)
{
	remote_addr end = 0;

	for (size_t i = sample->piece_count - sample->stack_pieces; i < sample->piece_count; i++) {
		if (end && sample->pieces[i].address != end)
			break;
		end = sample->pieces[i].address + sample->pieces[i].size;
	}
	return end;
}

static _Thread_local struct {
	const struct copied_memory *memory;
	const struct clock_sample *sample;
	size_t next;           /* the piece that served last */
	remote_addr stack_end; /* of the copied stack; 0: none */
} shown;

void copied_memory_show(const struct copied_memory *copied, const struct clock_sample *sample)
{
	shown.memory = copied;
	shown.sample = sample;
	shown.next = 0;
	shown.stack_end = sample ? stack_end_of(sample) : 0;
}

/* Whether it is all in one piece. Frames are asked for in the order in which they were copied. */
static bool copy_next(const struct clock_sample *sample, const struct memory_range *range)
{
	for (size_t i = shown.next; i < sample->piece_count && i < shown.next + 2; i++) {
		const struct memory_piece *piece = &sample->pieces[i];
		uint64_t offset = range->address - piece->address;

		if (offset < piece->size && range->size <= piece->size - offset) {
			memcpy(range->buffer, piece->bytes + offset, range->size);
			shown.next = i;
			return true;
		}
	}
	return false;
}

/* Puts over the range what the sample has of it; true: that is all of it. */
static bool copy_over(const struct clock_sample *sample, const struct memory_range *range)
{
	remote_addr wanted_end = range->address + range->size, next = range->address;

	if (wanted_end < range->address)
		return false;
	if (copy_next(sample, range))
		return true;
	for (size_t i = 0; i < sample->piece_count; i++) {
		const struct memory_piece *piece = &sample->pieces[i];
		remote_addr start = piece->address, end = piece->address + piece->size;

		if (end <= range->address || start >= wanted_end)
			continue;
		if (start < range->address)
			start = range->address;
		if (end > wanted_end)
			end = wanted_end;
		memcpy((uint8_t *)range->buffer + (start - range->address),
		       piece->bytes + (start - piece->address), end - start);
		/* A frame may lie across two pages, which were copied one after the other. */
		if (start <= next && end > next)
			next = end;
		if (next == wanted_end) {
			shown.next = i;
			return true;
		}
	}
	return false;
}

static bool lies_beyond_stack(const struct memory_range *range)
{
	return shown.stack_end && range->address + range->size > shown.stack_end &&
	       range->address < shown.stack_end + STACK_BEYOND_BYTES;
}

static int read_some(struct copied_memory *copied, struct memory_range *ranges, size_t count)
{
	struct memory_range asked[RANGES_AT_ONCE] = { 0 };
	size_t asked_of[RANGES_AT_ONCE] = { 0 }, asked_count = 0;
	int error;

	for (size_t i = 0; i < count; i++) {
		ranges[i].error = 0;
		if (copy_over(shown.sample, &ranges[i])) {
			copied->ranges_copied++;
			continue;
		}
		if (lies_beyond_stack(&ranges[i])) {
			ranges[i].error = -EFAULT;
			continue;
		}
		asked[asked_count] = ranges[i];
		asked_of[asked_count++] = i;
	}
	copied->ranges_read += asked_count;
	error = asked_count ? copied->process.read(copied->process.context, asked, asked_count) : 0;
	for (size_t i = 0; i < asked_count; i++) {
		struct memory_range *range = &ranges[asked_of[i]];

		range->error = error ? -EFAULT : asked[i].error;
		(void)copy_over(shown.sample, range);
	}
	/* The process may be gone: what was copied is there all the same. */
	return error && asked_count == count ? error : 0;
}

static int copied_memory_read(void *context, struct memory_range *ranges, size_t count)
{
	struct copied_memory *copied = context;
	int error = 0;

	if (shown.memory != copied || !shown.sample)
		return copied->process.read(copied->process.context, ranges, count);
	for (size_t done = 0; !error && done < count; done += RANGES_AT_ONCE)
		error = read_some(copied, ranges + done,
				  count - done < RANGES_AT_ONCE ? count - done : RANGES_AT_ONCE);
	return error;
}

struct memory_reader copied_memory_reader(struct copied_memory *copied)
{
	return (struct memory_reader){ .read = copied_memory_read, .context = copied };
}
