/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Locating and checking an interpreter. The sources of offsets are tried in
 * the order of enum python_offsets_source; the first by which a live thread's
 * frames can be read in full is kept.
 */
#include "pyintrospect/runtime.h"

#include "pyintrospect/code_cache.h"
#include "pyintrospect/field.h"
#include "pyintrospect/gil.h"
#include "pyintrospect/object_type.h"
#include "pyintrospect/python_stack.h"
#include "pyintrospect/runtime_internal.h"
#include "pyintrospect/runtime_search.h"
#include "pyintrospect/thread_state.h"
#include "pyintrospect/unicode.h"
#include "pyintrospect/version.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* A running target may be caught between two states: look again, for 50 ms at most. */
#define VALIDATION_ATTEMPTS 50
#define VALIDATION_PAUSE_NS 1000000
#define VALIDATION_THREADS  64

/* struct pthread's tid in glibc on x86-64, unchanged since 2.4; libthread_db's symbol tells it,
 * too. */
#define GLIBC_PTHREAD_TID_OFFSET 720

/* libthread_db's description of that field: bits, count, offset. */
#define PTHREAD_TID_SYMBOL "_thread_db_pthread_tid"

/* _Py_DebugOffsets */
#define FIRST_MINOR_COOKIE 13

#define SUPPORTED "CPython 3.6 to 3.15 (x86-64)"

static int find_symbol(const struct debug_info *info, const char *name, remote_addr *ret_address)
{
	uint64_t size;

	return info->symbol(info->context, name, ret_address, &size);
}

/* 3.10 and later give it a section of its own, which strip keeps. */
static int find_runtime_section(const struct debug_info *info, remote_addr *ret_address)
{
	uint64_t size;

	return info->section(info->context, ".PyRuntime", ret_address, &size);
}

bool python_runtime_in(const struct debug_info *info)
{
	remote_addr address;

	return find_symbol(info, "_PyRuntime", &address) == 0 ||
	       find_symbol(info, "_PyThreadState_Current", &address) == 0 ||
	       find_runtime_section(info, &address) == 0;
}

bool python_runtime_hidden_in(const struct debug_info *info, const struct memory_reader *reader)
{
	struct python_version version;
	remote_addr code_type, type_type;

	return runtime_search_version(info, reader, &version) == 0 &&
	       runtime_search_types(info, reader, &code_type, &type_type) == 0;
}

/* 0: by no symbol, section or cookie; then the list of interpreters is searched for. */
static remote_addr find_runtime(const struct debug_info *info, const struct memory_reader *reader,
				int minor)
{
	remote_addr address;

	if (find_symbol(info, "_PyRuntime", &address) == 0 ||
	    find_runtime_section(info, &address) == 0)
		return address;
	if (minor >= FIRST_MINOR_COOKIE &&
	    runtime_search_cookie(info, reader, minor, &address) == 0)
		return address;
	return 0;
}

/* 3.6 keeps the list's head in a static variable, which this exported function returns. */
static int decode_interpreter_head(const struct debug_info *info,
				   const struct memory_reader *reader, remote_addr *ret_address)
{
	static const uint8_t load[] = { 0x48, 0x8b, 0x05 }; /* mov disp32(%rip), %rax */
	uint8_t code[12];
	remote_addr function;
	size_t start = 0;
	int32_t displacement;
	int error;

	if (find_symbol(info, "PyInterpreterState_Head", &function))
		return -ENOENT;
	error = memory_read(reader, function, code, sizeof(code));
	if (error)
		return error;
	if (memcmp(code, "\xf3\x0f\x1e\xfa", 4) == 0) /* endbr64 */
		start = 4;
	if (memcmp(code + start, load, sizeof(load)) != 0 || code[start + 7] != 0xc3 /* ret */)
		return -ENOENT;
	memcpy(&displacement, code + start + sizeof(load), sizeof(displacement));
	*ret_address = function + start + 7 + (uint64_t)(int64_t)displacement;
	return 0;
}

/* *runtime_address: 0 when it is not known; then it is what the list's place makes it. */
static int find_interpreters(struct python_runtime *runtime, const struct debug_info *info,
			     remote_addr *runtime_address)
{
	int32_t offset = runtime->layout.offsets.runtime_interpreters;
	int error;

	if (offset != OFFSET_ABSENT && *runtime_address) {
		runtime->interpreters = *runtime_address + (uint64_t)offset;
		return 0;
	}
	if (offset == OFFSET_ABSENT &&
	    (find_symbol(info, "interp_head", &runtime->interpreters) == 0 ||
	     decode_interpreter_head(info, runtime->reader, &runtime->interpreters) == 0))
		return 0;
	error = runtime_search_interpreters(info, runtime->reader, &runtime->layout,
					    &runtime->interpreters);
	if (!error && offset != OFFSET_ABSENT)
		*runtime_address = runtime->interpreters - (uint64_t)offset;
	return error;
}

static void include(size_t *size, int32_t offset, size_t width)
{
	if (offset != OFFSET_ABSENT && (size_t)offset + width > *size)
		*size = (size_t)offset + width;
}

/*
 * Sizes of the pieces to read, and whether the layout has a field exactly
 * where the built-in row has one: no code then meets an absent one.
 */
static bool measure_layout(struct python_runtime *runtime, const struct python_layout *builtin)
{
	const struct python_offsets *o = &runtime->layout.offsets;
	struct python_block_sizes sizes = { 0 };
	const size_t word = sizeof(uint64_t);
	size_t position;

	for (size_t i = 0; python_offset_field(i, &position); i++) {
		int32_t offset, expected;

		memcpy(&offset, (const char *)o + position, sizeof(offset));
		memcpy(&expected, (const char *)&builtin->offsets + position, sizeof(expected));
		if ((offset == OFFSET_ABSENT) != (expected == OFFSET_ABSENT) ||
		    offset < OFFSET_ABSENT || offset > OFFSET_MAX)
			return false;
	}
	include(&sizes.thread, o->thread_next, word);
	include(&sizes.thread, o->thread_status, 4);
	include(&sizes.thread, o->thread_interpreter, word);
	include(&sizes.thread, o->thread_frame, word);
	include(&sizes.thread, o->thread_cframe, word);
	include(&sizes.thread, o->thread_pthread, word);
	include(&sizes.thread, o->thread_native_id, word);
	include(&sizes.thread, o->thread_chunk, word);
	include(&sizes.thread, o->thread_chunk_top, word);
	include(&sizes.cframe, o->cframe_current, word);
	include(&sizes.cframe, o->cframe_previous, word);
	include(&sizes.thread, o->thread_root_cframe, sizes.cframe);
	include(&sizes.frame, o->frame_code, word);
	include(&sizes.frame, o->frame_previous, word);
	include(&sizes.frame, o->frame_instruction, word);
	include(&sizes.frame, o->frame_owner, 1);
	include(&sizes.frame, o->frame_is_entry, 1);
	include(&sizes.frame, o->frame_tlbc, 4);
	include(&sizes.code, o->object_type, word);
	include(&sizes.code, o->variable_size, word);
	include(&sizes.code, o->code_filename, word);
	include(&sizes.code, o->code_name, word);
	include(&sizes.code, o->code_qualname, word);
	include(&sizes.code, o->code_constants, word);
	include(&sizes.code, o->code_names, word);
	include(&sizes.code, o->code_local_names, word);
	include(&sizes.code, o->code_cell_names, word);
	include(&sizes.code, o->code_free_names, word);
	include(&sizes.code, o->code_line_table, word);
	include(&sizes.code, o->code_first_line, 4);
	include(&sizes.code, o->code_flags, 4);
	include(&sizes.code, o->code_first_traceable, 4);
	include(&sizes.code, o->code_version, 4);
	include(&sizes.code, o->code_monitoring, word);
	include(&sizes.code, o->code_locals, 4);
	include(&sizes.code, o->code_arguments, 4);
	include(&sizes.code, o->code_keyword_arguments, 4);
	include(&sizes.code, o->code_exceptions, word);
	include(&sizes.code, o->code_stack_size, 4);
	include(&sizes.code, o->code_frame_size, 4);
	include(&sizes.code, o->code_tlbc, word);
	if (runtime->layout.walk == PYTHON_WALK_FRAME_OBJECTS)
		include(&sizes.code, o->code_bytecode, word);
	runtime->sizes = sizes;
	return sizes.thread <= OFFSET_BLOCK_MAX && sizes.frame <= OFFSET_BLOCK_MAX &&
	       sizes.code <= OFFSET_BLOCK_MAX && sizes.cframe <= OFFSET_BLOCK_MAX &&
	       unicode_head_size(o) <= UNICODE_HEAD_MAX &&
	       (size_t)o->string_length + 8 <= unicode_head_size(o) &&
	       (size_t)o->string_state + 4 <= unicode_head_size(o) && o->bytes_data >= 24 &&
	       o->bytes_data <= OFFSET_BLOCK_MAX &&
	       o->variable_size == builtin->offsets.variable_size &&
	       o->string_kind == builtin->offsets.string_kind &&
	       o->chunk_data <= OFFSET_BLOCK_MAX &&
	       (o->chunk_data == OFFSET_ABSENT ||
		(o->chunk_data >= o->chunk_size + 8 && o->chunk_data >= o->chunk_previous + 8));
}

/* Once, whatever the layout: the fields of a type that are looked at have not moved since 3.6. */
static int find_types(struct python_runtime *runtime, const struct debug_info *info)
{
	remote_addr type_type = 0;
	int error = find_symbol(info, "PyCode_Type", &runtime->code_type);

	if (error)
		error = runtime_search_types(info, runtime->reader, &runtime->code_type,
					     &type_type);
	if (find_symbol(info, "PyType_Type", &runtime->type_type))
		runtime->type_type = type_type;
	return error;
}

/* Do the fields of this code object lead to objects of the types they must have? */
static bool code_fields_right(const struct python_runtime *runtime, remote_addr code)
{
	const struct python_offsets *o = &runtime->layout.offsets;
	const struct {
		int32_t offset;
		const char *type;
	} fields[] = {
		{ o->code_filename, "str" },
		{ o->code_name, "str" },
		{ o->code_qualname, "str" },
		{ o->code_constants, "tuple" },
		{ o->code_line_table, "bytes" },
		{ runtime->layout.walk == PYTHON_WALK_FRAME_OBJECTS ? o->code_bytecode
								    : OFFSET_ABSENT,
		  "bytes" },
	};
	uint8_t head[OFFSET_BLOCK_MAX];

	if (memory_read(runtime->reader, code, head, runtime->sizes.code))
		return false;
	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
		if (fields[i].offset != OFFSET_ABSENT &&
		    !python_object_is(runtime, field_u64(head, fields[i].offset), fields[i].type))
			return false;
	return true;
}

enum verdict {
	VERDICT_GOOD,       /* a live thread's frames were read, and all is well with them */
	VERDICT_NO_FRAMES,  /* thread states are as they must be, none runs Python now */
	VERDICT_NO_THREADS, /* no thread state: not initialised yet, or finished */
	VERDICT_BAD,
};

static bool frame_believable(const struct python_frame *frame)
{
	return frame->code->function[0] && frame->code->first_line >= 0;
}

static enum verdict judge_layout_once(struct python_runtime *runtime, struct python_stack *stack)
{
	struct thread_state *thread;
	size_t position = 0, threads = 0;
	enum verdict verdict = VERDICT_NO_FRAMES;

	if (thread_table_refresh(runtime))
		return VERDICT_BAD;
	while (threads < VALIDATION_THREADS &&
	       (thread = thread_table_next(&runtime->threads, &position))) {
		threads++;
		if (python_stack_read_thread(runtime, thread, NULL, stack) ||
		    (stack->flags & PYTHON_STACK_INVALID)) {
			verdict = VERDICT_BAD;
			continue;
		}
		for (size_t i = 0; i < stack->count; i++)
			if (!frame_believable(&stack->frames[i]))
				return VERDICT_BAD;
		if (stack->count > 0)
			return code_fields_right(runtime, runtime->raw_frames[0].code)
				       ? VERDICT_GOOD
				       : VERDICT_BAD;
	}
	if (threads == 0)
		return runtime->threads.head_count ? VERDICT_NO_THREADS : VERDICT_BAD;
	return verdict;
}

static enum verdict judge_layout(struct python_runtime *runtime, struct python_stack *stack)
{
	const struct timespec pause = { .tv_nsec = VALIDATION_PAUSE_NS };
	enum verdict verdict = VERDICT_BAD;

	for (unsigned attempt = 0; attempt < VALIDATION_ATTEMPTS; attempt++) {
		verdict = judge_layout_once(runtime, stack);
		if (verdict == VERDICT_GOOD)
			break;
		/* A sleeping interpreter without frames stays so; a bad layout stays bad, too. */
		nanosleep(&pause, NULL);
	}
	return verdict;
}

static int load_source(struct python_runtime *runtime, const struct debug_info *info,
		       enum python_offsets_source source, remote_addr runtime_address,
		       const struct python_layout *builtin)
{
	runtime->source = source;
	runtime->layout = *builtin;
	switch (source) {
	case PYTHON_OFFSETS_DEBUG_OFFSETS:
		return runtime_address ? python_layout_from_debug_offsets(
						 runtime->reader, runtime_address, &runtime->layout)
				       : -ENODATA;
	case PYTHON_OFFSETS_DWARF:
		return python_layout_from_dwarf(info, &runtime->layout);
	default:
		return 0;
	}
}

static void refuse_build(const struct python_runtime *runtime, struct error *error,
			 const char *reason)
{
	error_set(error, EXIT_UNSUPPORTED_PYTHON, "CPython 3.%d: %s", runtime->version.minor,
		  reason);
	error_set_cure(error, "supported are " SUPPORTED);
}

/* Tries the sources in turn; 0 or -1 with *error filled. */
static int choose_layout(struct python_runtime *runtime, const struct debug_info *info,
			 struct error *error)
{
	const int minor = runtime->version.minor;
	const struct python_layout *builtin = python_layout_builtin(minor);
	struct python_stack *stack = malloc(sizeof(*stack));
	enum verdict verdict = VERDICT_BAD;
	remote_addr runtime_address, at;

	if (!stack) {
		error_set(error, EXIT_INTERNAL, "out of memory");
		return -1;
	}
	runtime_address = find_runtime(info, runtime->reader, minor);
	if (python_debug_offsets_free_threaded(runtime->reader, runtime_address, minor))
		builtin = python_layout_free_threaded(minor);
	for (int source = PYTHON_OFFSETS_DEBUG_OFFSETS; source <= PYTHON_OFFSETS_TABLE; source++) {
		int failure = load_source(runtime, info, (enum python_offsets_source)source,
					  runtime_address, builtin);

		at = runtime_address;
		if (failure || !measure_layout(runtime, builtin) ||
		    !python_type_is(runtime, runtime->code_type, "code") ||
		    find_interpreters(runtime, info, &at))
			continue;
		gil_locate(runtime, info, at);
		verdict = judge_layout(runtime, stack);
		if (verdict == VERDICT_GOOD || verdict == VERDICT_NO_FRAMES)
			break;
	}
	free(stack);
	runtime->version.free_threaded = runtime->layout.free_threaded;
	if (verdict == VERDICT_GOOD || verdict == VERDICT_NO_FRAMES)
		return 0;
	if (verdict == VERDICT_NO_THREADS) {
		error_set(error, EXIT_NO_TARGET,
			  "the interpreter has no threads: it has not "
			  "started yet, or is shutting down");
		return -1;
	}
	refuse_build(
		runtime, error,
		"its data structures are not laid out as expected (a modified or debug build?)");
	return -1;
}

static bool version_supported(const struct debug_info *info, struct python_runtime *runtime,
			      struct error *error)
{
	const struct python_version *version = &runtime->version;
	int failure;

	failure = python_version_find(info, runtime->reader, &runtime->version);
	/* Without symbols, strings tell; those of old versions mean nothing then. */
	if ((failure == -ENOENT || (!failure && version->major < 3 && !python_runtime_in(info))) &&
	    runtime_search_version(info, runtime->reader, &runtime->version) == 0)
		failure = 0;
	if (failure == -ENOENT && !python_runtime_in(info)) {
		error_set(error, EXIT_NO_TARGET, "no CPython interpreter in this binary");
		return false;
	}
	if (failure == -ENOENT) {
		error_set(error, EXIT_UNSUPPORTED_PYTHON,
			  "this CPython does not say which version it is, and is none of 3.6 to "
			  "3.15");
		error_set_cure(error, "supported are " SUPPORTED);
		return false;
	}
	if (failure) {
		error_set(error, failure == -EPERM ? EXIT_PERMISSION : EXIT_NO_TARGET,
			  "the interpreter's memory cannot be read: %s", strerror(-failure));
		return false;
	}
	if (version->major == 3 && python_layout_builtin(version->minor))
		return true;
	error_set(error, EXIT_UNSUPPORTED_PYTHON, "CPython %d.%d is not supported", version->major,
		  version->minor);
	error_set_cure(error, "supported are " SUPPORTED);
	return false;
}

static void locate_eval(struct python_runtime *runtime, const struct debug_info *info)
{
	const struct python_offsets *offsets = &runtime->layout.offsets;
	remote_addr interpreter, function, text;
	uint64_t size;

	if (info->symbol(info->context, "_PyEval_EvalFrameDefault", &function, &size) == 0 &&
	    size > 0) {
		runtime->eval = (struct address_range){ function, function + size };
		return;
	}
	if (offsets->interpreter_eval == OFFSET_ABSENT ||
	    info->section(info->context, ".text", &text, &size) ||
	    memory_read_u64(runtime->reader, runtime->interpreters, &interpreter) ||
	    memory_read_u64(runtime->reader, interpreter + (uint64_t)offsets->interpreter_eval,
			    &function))
		return;
	/* Not one that an extension put in its place. */
	if (function >= text && function - text < size)
		runtime->eval = (struct address_range){ function, function + 1 };
}

/* Asked of the interpreter's binary, which has the symbol when libc is linked in. */
static uint32_t pthread_tid_offset(const struct debug_info *info,
				   const struct memory_reader *reader)
{
	uint32_t description[3];
	remote_addr address;

	if (find_symbol(info, PTHREAD_TID_SYMBOL, &address) ||
	    memory_read(reader, address, description, sizeof(description)) ||
	    description[0] != 32 || description[1] != 1 || description[2] > OFFSET_BLOCK_MAX * 4)
		return GLIBC_PTHREAD_TID_OFFSET;
	return description[2];
}

struct python_runtime *python_runtime_create(const struct debug_info *info,
					     const struct memory_reader *reader,
					     struct error *error)
{
	struct python_runtime *runtime = calloc(1, sizeof(*runtime));

	if (!runtime || thread_table_init(&runtime->threads) ||
	    remote_copy_init(&runtime->copy, reader) || !(runtime->codes = code_cache_create())) {
		error_set(error, EXIT_INTERNAL, "out of memory");
		goto fail;
	}
	runtime->reader = reader;
	if (!version_supported(info, runtime, error))
		goto fail;
	runtime->pthread_tid = pthread_tid_offset(info, reader);
	if (find_types(runtime, info))
		runtime->code_type = 0; /* no layout will do */
	if (choose_layout(runtime, info, error))
		goto fail;
	locate_eval(runtime, info);
	return runtime;
fail:
	python_runtime_destroy(runtime);
	return NULL;
}

void python_runtime_destroy(struct python_runtime *runtime)
{
	if (!runtime)
		return;
	code_cache_destroy(runtime->codes);
	remote_copy_deinit(&runtime->copy);
	thread_table_deinit(&runtime->threads);
	free(runtime);
}

struct python_version python_runtime_version(const struct python_runtime *runtime)
{
	return runtime->version;
}

enum python_offsets_source python_runtime_offsets_source(const struct python_runtime *runtime)
{
	return runtime->source;
}

uint32_t python_runtime_object_head(const struct python_runtime *runtime)
{
	return (uint32_t)runtime->layout.offsets.variable_size;
}

int python_runtime_eval_function(const struct python_runtime *runtime,
				 struct address_range *ret_range)
{
	if (runtime->eval.end == 0)
		return -ENOENT;
	*ret_range = runtime->eval;
	return 0;
}

remote_addr python_runtime_type_type(const struct python_runtime *runtime)
{
	return runtime->type_type;
}

uint64_t python_runtime_codes_dropped(const struct python_runtime *runtime)
{
	return code_cache_dropped(runtime->codes);
}
