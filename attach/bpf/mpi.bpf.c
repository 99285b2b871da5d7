/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Runs in the kernel when a traced process enters or leaves one of MPI's functions: notes when,
 * with what arguments, and what the call has left behind its pointers. The process is not
 * stopped, and nothing of it is changed by this.
 *
 * Arguments and what they point to are the target's: hostile, so every length is bounded, and
 * what cannot be read is passed over.
 */
#include "attach/bpf/mpi_record.h"
#include "attach/bpf/python_thread.h"

#include <asm/ptrace.h>

#define CALLS_MAX  8192 /* under way at a time */
#define PATHS_MAX  16384
#define RING_BYTES (16u << 20)

SEC(".rodata.config") const volatile struct mpi_machine machine;

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, MPI_TARGETS_MAX);
	__type(key, __u32);
	__type(value, struct mpi_target);
} targets SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, MPI_FUNCTIONS_MAX);
	__type(key, __u32);
	__type(value, struct mpi_shape);
} shapes SEC(".maps");

/* Where each process's interpreter keeps what. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, MPI_TARGETS_MAX);
	__type(key, __u32);
	__type(value, struct clock_config);
} pythons SEC(".maps");

/* Paths of which the daemon has been told. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, PATHS_MAX);
	__type(key, __u64);
	__type(value, __u32);
} paths SEC(".maps");

/* By thread: the outermost MPI function that it is in. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, CALLS_MAX);
	__type(key, __u32);
	__type(value, struct mpi_record);
} calls SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct mpi_record);
} no_call SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, RING_BYTES);
} ring SEC(".maps");

static __always_inline __u64 word_of(const struct mpi_record *call, __u32 index)
{
	return index < MPI_WORDS ? call->words[index] : 0;
}

static __always_inline __u64 read_handle(const struct mpi_target *target, __u64 address)
{
	__u64 handle = 0;

	if (address < MPI_POINTER_MIN)
		return 0;
	/* Zero where it cannot be read. */
	if (target->handle_bytes == 8)
		(void)bpf_probe_read_user(&handle, 8, (void *)address);
	else
		(void)bpf_probe_read_user(&handle, 4, (void *)address);
	return handle;
}

/* False: it cannot be read. */
static __always_inline int read_int(__u64 address, __s32 *ret_value)
{
	return address >= MPI_POINTER_MIN &&
	       !bpf_probe_read_user(ret_value, sizeof(*ret_value), (void *)address);
}

static __always_inline __u32 own_number(__u64 id)
{
	struct bpf_pidns_info info = { 0 };

	/* One in another namespace has the machine's number. */
	if (bpf_get_ns_current_pid_tgid(machine.namespace_device, machine.namespace_inode, &info,
					sizeof(info)))
		return (__u32)id;
	return info.pid;
}

/* ---- arrays ---- */

struct array {
	__u64 address;
	__u64 begin_ns;
	__u32 left, first;
	__u32 item_bytes;
	__u32 kind;
	__u32 tid;
	__u16 slot, unused;
};

static long chunk_step(__u32 index, struct array *array)
{
	__u32 count, capacity;
	__u64 bytes;
	struct mpi_chunk *chunk;

	if (!array->left || array->item_bytes < 4 || array->item_bytes > 32)
		return 1;
	capacity = MPI_CHUNK_WORDS * 8 / array->item_bytes;
	count = array->left < capacity ? array->left : capacity;
	bytes = (__u64)count * array->item_bytes;
	/* What the verifier sees checked is what is used, and not a copy of the compiler's. */
	barrier_var(bytes);
	if (bytes > MPI_CHUNK_WORDS * 8)
		return 1;
	chunk = bpf_ringbuf_reserve(&ring, sizeof(*chunk), 0);
	if (!chunk)
		return 1;
	chunk->kind = array->kind;
	chunk->slot = array->slot;
	chunk->count = (__u16)count;
	chunk->tid = array->tid;
	chunk->first = array->first;
	chunk->begin_ns = array->begin_ns;
	if (bpf_probe_read_user(chunk->words, bytes, (void *)array->address)) {
		bpf_ringbuf_discard(chunk, BPF_RB_NO_WAKEUP);
		return 1;
	}
	bpf_ringbuf_submit(chunk, BPF_RB_NO_WAKEUP);
	array->address += bytes;
	array->first += count;
	array->left -= count;
	return 0;
}

static __always_inline void send_array(struct mpi_target *target, const struct mpi_record *call,
				       __u64 address, __u64 count, __u32 item_bytes, __u32 kind)
{
	struct array array = {
		.address = address,
		.begin_ns = call->begin_ns,
		/* An int. */
		.left = (__u32)count < 0x80000000u ? (__u32)count : 0,
		.item_bytes = item_bytes,
		.kind = kind,
		.tid = call->tid,
		.slot = call->slot,
	};

	if (address < MPI_POINTER_MIN)
		return;
	bpf_loop(MPI_CHUNKS_MAX, chunk_step, &array, 0);
	if (array.left)
		__sync_fetch_and_add(&target->requests_left_out, array.left);
}

/* ---- the Python lines of a call ---- */

struct path_walk {
	__u64 link;
	__u64 path;
	__u32 previous, code, instruction, unused;
};

/* A path is known by the code objects of its frames, and where each of them is. */
static long path_step(__u32 index, struct path_walk *walk)
{
	if (!walk->link)
		return 1;
	walk->path ^= user_word(walk->link + walk->code);
	walk->path *= 0x9e3779b97f4a7c15ull;
	walk->path ^= walk->path >> 29;
	walk->path ^= user_word(walk->link + walk->instruction);
	walk->path *= 0xbf58476d1ce4e5b9ull;
	walk->path ^= walk->path >> 32;
	walk->link = user_word(walk->link + walk->previous);
	return 0;
}

struct piece_walk {
	__u64 link;
	__u64 path;
	__u32 bytes, next, tid;
	__u16 slot, failed;
};

static __always_inline int send_piece(const struct piece_walk *walk, __u64 address, __u64 bytes,
				      __u32 kind, __u32 first)
{
	struct mpi_chunk *chunk;

	barrier_var(bytes);
	if (bytes > MPI_PIECE_BYTES)
		return -1;
	chunk = bpf_ringbuf_reserve(&ring, sizeof(*chunk), 0);
	if (!chunk)
		return -1;
	chunk->kind = kind;
	chunk->slot = walk->slot;
	chunk->count = (__u16)bytes;
	chunk->tid = walk->tid;
	chunk->first = first;
	chunk->begin_ns = walk->path;
	chunk->words[0] = address;
	if (bpf_probe_read_user(&chunk->words[1], bytes, (void *)address)) {
		bpf_ringbuf_discard(chunk, BPF_RB_NO_WAKEUP);
		return -1;
	}
	bpf_ringbuf_submit(chunk, BPF_RB_NO_WAKEUP);
	return 0;
}

static long piece_step(__u32 index, struct piece_walk *walk)
{
	if (!walk->link)
		return 1;
	if (send_piece(walk, walk->link, walk->bytes, MPI_RECORD_DATA, 0)) {
		walk->failed = 1;
		return 1;
	}
	walk->link = user_word(walk->link + walk->next);
	return 0;
}

/* The frames at which the thread is now, for the daemon to read. 0: done. */
static __noinline int send_path(__u32 slot, __u32 tid, __u64 state, __u64 path)
{
	struct clock_config *config = bpf_map_lookup_elem(&pythons, &slot);
	struct piece_walk walk = { .path = path, .tid = tid, .slot = (__u16)slot };
	struct mpi_chunk *end;

	if (!config)
		return -1;
	for (__u32 at = 0; at < CLOCK_STATE_BYTES_MAX; at += MPI_PIECE_BYTES) {
		__u32 left = config->state_bytes - at;

		if (at < config->state_bytes &&
		    send_piece(&walk, state + at, left < MPI_PIECE_BYTES ? left : MPI_PIECE_BYTES,
			       MPI_RECORD_STATE, at))
			return -1;
	}
	if (config->thread_cframe != CLOCK_ABSENT) {
		walk.link = user_word(state + config->thread_cframe);
		walk.bytes = config->cframe_bytes;
		walk.next = config->cframe_previous;
		bpf_loop(CFRAMES_MAX, piece_step, &walk, 0);
	}
	walk.link = innermost_frame(config, state);
	walk.bytes = config->frame_bytes;
	walk.next = config->frame_previous;
	bpf_loop(MPI_FRAMES_MAX, piece_step, &walk, 0);
	if (walk.failed)
		return -1;
	end = bpf_ringbuf_reserve(&ring, sizeof(*end), 0);
	if (!end)
		return -1;
	end->kind = MPI_RECORD_PATH;
	end->slot = (__u16)slot;
	end->count = 0;
	end->tid = tid;
	end->first = 0;
	end->begin_ns = path;
	end->words[MPI_PATH_STATE] = state;
	end->words[MPI_PATH_TID] = inner_number(bpf_get_current_task_btf());
	end->words[MPI_PATH_REST] = walk.link;
	bpf_ringbuf_submit(end, BPF_RB_NO_WAKEUP);
	return 0;
}

/* So many new ones that a program which never comes by one twice is not slowed down by it. */
static __always_inline int may_send_path(struct mpi_target *target, __u64 now_ns)
{
	if (now_ns - target->paths_window_ns >= MPI_WINDOW_NS) {
		target->paths_window_ns = now_ns;
		target->in_paths_window = 0;
	}
	return target->in_paths_window++ < MPI_PATHS_MAX;
}

/* Of the calling thread, now: a number for its path, which the daemon has been told. 0: none. */
static __noinline __u64 note_path(__u32 slot, __u32 tid)
{
	struct mpi_target *target = bpf_map_lookup_elem(&targets, &slot);
	struct clock_config *config = bpf_map_lookup_elem(&pythons, &slot);
	struct task_struct *task = bpf_get_current_task_btf();
	struct path_walk walk = { .path = slot };
	__u64 now_ns = bpf_ktime_get_ns(), state;
	__u32 told = 1;

	if (!target || !config || !config->has_python)
		return 0;
	state = find_state(config, tid, identity_of(config, task, inner_number(task)), now_ns);
	if (!state)
		return 0;
	walk.link = innermost_frame(config, state);
	walk.previous = config->frame_previous;
	walk.code = config->frame_code;
	walk.instruction = config->frame_instruction;
	if (!walk.link)
		return 0;
	bpf_loop(MPI_FRAMES_MAX, path_step, &walk, 0);
	if (!walk.path || bpf_map_lookup_elem(&paths, &walk.path))
		return walk.path;
	if (!may_send_path(target, now_ns) || send_path(slot, tid, state, walk.path))
		return 0;
	bpf_map_update_elem(&paths, &walk.path, &told, BPF_ANY);
	return walk.path;
}

/* ---- calls ---- */

static __always_inline void note_sizes(const struct mpi_target *target,
				       const struct mpi_shape *shape, struct mpi_record *call)
{
	if (target->type_size == MPI_ABSENT)
		return;
	if (shape->types[0] != MPI_ABSENT &&
	    !bpf_probe_read_user(&call->sizes[0], 8,
				 (void *)(word_of(call, shape->types[0]) + target->type_size)))
		call->flags |= MPI_HAS_SIZE_0;
	if (shape->types[1] != MPI_ABSENT &&
	    !bpf_probe_read_user(&call->sizes[1], 8,
				 (void *)(word_of(call, shape->types[1]) + target->type_size)))
		call->flags |= MPI_HAS_SIZE_1;
}

/* The cookie of a probe: which process it was set for, and at which function. */
#define COOKIE_SLOT(cookie)     ((__u32)((cookie) >> 16) & 0xffff)
#define COOKIE_FUNCTION(cookie) ((__u32)(cookie)&0xffff)

/* Made where it stays: with the frames that note_path() needs, it does not fit the program's stack
 * (6.1). */
static __always_inline struct mpi_record *new_call(__u32 key)
{
	__u32 none = 0;
	struct mpi_record *empty = bpf_map_lookup_elem(&no_call, &none);

	if (!empty || bpf_map_update_elem(&calls, &key, empty, BPF_ANY))
		return NULL;
	return bpf_map_lookup_elem(&calls, &key);
}

SEC("kprobe")
int on_enter(struct pt_regs *context)
{
	__u64 cookie = bpf_get_attach_cookie(context), id = bpf_get_current_pid_tgid();
	__u32 slot = COOKIE_SLOT(cookie), function = COOKIE_FUNCTION(cookie), key = (__u32)id;
	struct mpi_target *target = bpf_map_lookup_elem(&targets, &slot);
	struct mpi_shape *shape = bpf_map_lookup_elem(&shapes, &function);
	struct mpi_record *call;
	__u64 sp = context->rsp;

	if (!target || !shape || !target->recording)
		return 0;
	call = bpf_map_lookup_elem(&calls, &key);
	/* Of a call that lies below this one on the stack, the return was never seen. */
	if (call && call->sp > sp) {
		__sync_fetch_and_add(&target->nested, 1);
		return 0;
	}
	call = new_call(key);
	if (!call) {
		__sync_fetch_and_add(&target->dropped, 1);
		return 0;
	}
	call->kind = MPI_RECORD_CALL;
	call->slot = (__u16)slot;
	call->function = (__u16)function;
	call->tid = own_number(id);
	call->flags = (__u32)id == (__u32)(id >> 32) ? MPI_IS_MAIN : 0;
	call->sp = sp;
	call->ip = context->rip;
	call->words[0] = context->rdi;
	call->words[1] = context->rsi;
	call->words[2] = context->rdx;
	call->words[3] = context->rcx;
	call->words[4] = context->r8;
	call->words[5] = context->r9;
	if (!bpf_probe_read_user(&call->words[6], (MPI_WORDS - 6) * 8, (void *)(sp + 8)))
		call->flags |= MPI_HAS_STACK;
	note_sizes(target, shape, call);
	if (shape->handle_in != MPI_ABSENT)
		call->handle_in = read_handle(target, word_of(call, shape->handle_in));
	call->path = note_path(slot, call->tid);
	call->begin_ns = bpf_ktime_get_ns();
	if (shape->array != MPI_ABSENT)
		send_array(target, call, word_of(call, shape->array), word_of(call, shape->count),
			   shape->array_bytes ? shape->array_bytes : target->handle_bytes,
			   shape->array_bytes ? MPI_RECORD_INDICES : MPI_RECORD_HANDLES);
	return 0;
}

static __always_inline void read_status(const struct mpi_target *target, __u64 address,
					struct mpi_record *call)
{
	if (address >= MPI_POINTER_MIN &&
	    read_int(address + target->status_source, &call->source) &&
	    read_int(address + target->status_tag, &call->tag))
		call->flags |= MPI_HAS_STATUS;
}

static __always_inline void read_results(struct mpi_target *target, const struct mpi_shape *shape,
					 struct mpi_record *call)
{
	if (shape->handle_out != MPI_ABSENT)
		call->handle_out = read_handle(target, word_of(call, shape->handle_out));
	if (shape->status != MPI_ABSENT)
		read_status(target, word_of(call, shape->status), call);
	if (shape->flag != MPI_ABSENT && read_int(word_of(call, shape->flag), &call->flag))
		call->flags |= MPI_HAS_FLAG;
	if (shape->index != MPI_ABSENT && read_int(word_of(call, shape->index), &call->index))
		call->flags |= MPI_HAS_INDEX;
	if (shape->indices != MPI_ABSENT && call->flags & MPI_HAS_INDEX && call->index > 0)
		send_array(target, call, word_of(call, shape->indices), (__u32)call->index, 4,
			   MPI_RECORD_INDICES);
	if (shape->statuses != MPI_ABSENT)
		send_array(target, call, word_of(call, shape->statuses),
			   word_of(call, shape->count), target->status_bytes, MPI_RECORD_STATUSES);
}

/* Whether there may be a record more in this window. */
static __always_inline int within_limit(struct mpi_target *target, __u64 now_ns)
{
	if (now_ns - target->window_ns >= MPI_WINDOW_NS) {
		target->window_ns = now_ns;
		target->in_window = 0;
	}
	/* Threads may count one for two: the limit need not be exact. */
	return target->in_window++ < target->limit;
}

SEC("kprobe")
int on_return(struct pt_regs *context)
{
	__u64 now_ns = bpf_ktime_get_ns();
	__u64 cookie = bpf_get_attach_cookie(context);
	__u32 slot = COOKIE_SLOT(cookie), function = COOKIE_FUNCTION(cookie);
	__u32 key = (__u32)bpf_get_current_pid_tgid();
	struct mpi_target *target = bpf_map_lookup_elem(&targets, &slot);
	struct mpi_shape *shape = bpf_map_lookup_elem(&shapes, &function);
	struct mpi_record *call = bpf_map_lookup_elem(&calls, &key);

	/* The call of an outer function goes on. */
	if (!target || !shape || !call || call->function != function || call->slot != slot ||
	    context->rsp != call->sp + 8)
		return 0;
	call->end_ns = now_ns;
	call->result = (__s32)context->rax;
	if (!within_limit(target, now_ns)) {
		__sync_fetch_and_add(&target->over_limit, 1);
		__sync_fetch_and_add(&target->over_ns, now_ns - call->begin_ns);
	} else {
		read_results(target, shape, call);
		if (bpf_ringbuf_output(&ring, call, sizeof(*call), BPF_RB_NO_WAKEUP)) {
			__sync_fetch_and_add(&target->dropped, 1);
			__sync_fetch_and_add(&target->dropped_ns, now_ns - call->begin_ns);
		}
	}
	(void)bpf_map_delete_elem(&calls, &key);
	return 0;
}

#include "attach/bpf/span.h"
/* After that, whose maps it uses. */
#include "attach/bpf/function.h"
#include "attach/bpf/function_loop.h"
#include "attach/bpf/switch.h"

#include "attach/bpf/fault.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";
