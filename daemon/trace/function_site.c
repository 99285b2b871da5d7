/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/trace/function_site.h"

#include "attach/handler_place.h"
#include "attach/loop_place.h"
#include "daemon/capture/target.h"
#include "pyintrospect/frame_places.h"
#include "pyintrospect/offsets.h"
#include "pyintrospect/opcode.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define TABLE_BYTES (DISPATCH_OPCODES * sizeof(uint64_t))
/* Of an interpreter's data, what is searched. */
#define DATA_BYTES_MAX (32u << 20)
/* 3.11: a number that no compiler writes, for code that is traced by Python itself. */
#define OPCODE_TRACING 255
/* Of a PyFrameObject: f_frame behind the head of the object and f_back, ever since there is one
 * (Include/internal/pycore_frame.h of 3.11 to 3.15). */
#define OBJECT_FRAME 24
/* Exported by all of them, and called wherever an exception passes through a frame. */
#define TRACEBACK "PyTraceBack_Here"
/* To 3.10: exported, and called by the evaluation loop with what it returns. */
#define CHECK "_Py_CheckFunctionResult"
/* Pointers that follow each other in a code object: from 3.11 on its qualified name, too. */
#define NAME_WORDS_LOOP (FUNCTION_NAME_WORDS - 1)

static const struct {
	const char *opcode;
	enum function_probe_kind kind;
	bool needed; /* in all versions */
} handlers[] = {
	{ "RESUME", FUNCTION_PROBE_ENTER, true },
	{ "RESUME_QUICK", FUNCTION_PROBE_ENTER, false },
	{ "RESUME_CHECK", FUNCTION_PROBE_ENTER, false },
	{ "INSTRUMENTED_RESUME", FUNCTION_PROBE_ENTER, false },
	{ "RETURN_VALUE", FUNCTION_PROBE_LEAVE, true },
	{ "RETURN_CONST", FUNCTION_PROBE_LEAVE, false },
	{ "YIELD_VALUE", FUNCTION_PROBE_LEAVE, true },
	{ "INSTRUMENTED_RETURN_VALUE", FUNCTION_PROBE_LEAVE, false },
	{ "INSTRUMENTED_RETURN_CONST", FUNCTION_PROBE_LEAVE, false },
	{ "INSTRUMENTED_YIELD_VALUE", FUNCTION_PROBE_LEAVE, false },
	/* These raise without a call of TRACEBACK. */
	{ "RERAISE", FUNCTION_PROBE_RAISE, true },
	{ "END_ASYNC_FOR", FUNCTION_PROBE_RAISE, true },
	{ "CLEANUP_THROW", FUNCTION_PROBE_RAISE, false },
	{ "INSTRUMENTED_END_ASYNC_FOR", FUNCTION_PROBE_RAISE, false },
	{ "ENTER_EXECUTOR", FUNCTION_PROBE_COMPILED, false },
};
#define HANDLERS (sizeof(handlers) / sizeof(handlers[0]))

_Static_assert(HANDLERS < FUNCTION_PLACES_MAX, "and one for TRACEBACK");
_Static_assert(HANDLERS <= HANDLER_PLACES_MAX, "all are found at once");
_Static_assert(LOOP_PLACES_MAX <= FUNCTION_PLACES_MAX, "all are set at once");

/* ---- the table ---- */

bool dispatch_table_fits(int minor, const uint64_t table[static DISPATCH_OPCODES])
{
	const struct opcode_info *opcodes = opcode_table(minor);
	uint64_t unknown = 0, first = 0;
	bool differ = false;

	for (unsigned i = 0; opcodes && i < DISPATCH_OPCODES; i++) {
		if (opcodes[i].name || i == OPCODE_TRACING)
			continue;
		if (unknown && table[i] != unknown)
			return false;
		unknown = table[i];
	}
	for (size_t i = 0; unknown && i < HANDLERS; i++) {
		int number = opcode_number(minor, handlers[i].opcode);

		if (number >= 0 && table[number] == unknown)
			return false;
		if (number >= 0 && first && table[number] != first)
			differ = true;
		if (number >= 0)
			first = table[number];
	}
	return unknown != 0 && differ;
}

/* Of one mapping. -ENOENT: it is not in it. */
static int search_data(const struct target *target, const struct mapping *mapping, int minor,
		       uint64_t *ret_table)
{
	size_t size = mapping->end - mapping->start, run = 0;
	uint64_t *words = malloc(size);
	int error = words ? memory_read(&target->reader, mapping->start, words, size) : -ENOMEM;

	if (!error)
		error = -ENOENT;
	for (size_t i = 0; words && error == -ENOENT && i < size / sizeof(words[0]); i++) {
		run = address_ranges_contain(&target->eval, words[i]) ? run + 1 : 0;
		if (run < DISPATCH_OPCODES ||
		    !dispatch_table_fits(minor, &words[i + 1 - DISPATCH_OPCODES]))
			continue;
		memcpy(ret_table, &words[i + 1 - DISPATCH_OPCODES], TABLE_BYTES);
		error = 0;
	}
	free(words);
	return error;
}

static int find_table(const struct target *target, int minor, uint64_t *ret_table)
{
	const struct mapping *code = mapping_find(&target->mappings, target->eval.items[0].start);
	uint64_t left = DATA_BYTES_MAX;
	int error = -ENOENT;

	for (size_t i = 0; code && error == -ENOENT && i < target->mappings.count; i++) {
		const struct mapping *mapping = &target->mappings.mappings[i];

		if (mapping->inode != code->inode || mapping->device != code->device ||
		    mapping->protection & PROT_EXEC || !(mapping->protection & PROT_READ) ||
		    mapping->end - mapping->start > left)
			continue;
		left -= mapping->end - mapping->start;
		error = search_data(target, mapping, minor, ret_table);
		if (error == -EFAULT)
			error = -ENOENT;
	}
	return error;
}

/* ---- places ---- */

/* In the interpreter's file. */
static int add_place(const struct target *target, const struct mapping *code, remote_addr address,
		     const struct function_place *place, struct function_site *site)
{
	const struct mapping *mapping = mapping_find(&target->mappings, address);

	if (!mapping || mapping->inode != code->inode || mapping->device != code->device ||
	    !(mapping->protection & PROT_EXEC))
		return -ENOENT;
	site->places[site->count] = *place;
	site->places[site->count++].file_offset = address - mapping->start + mapping->file_offset;
	return 0;
}

static int find_places(const struct target *target, const struct mapping *code, int minor,
		       int32_t store_offset, struct function_site *site)
{
	struct handler_place places[HANDLERS];
	enum function_probe_kind kinds[HANDLERS];
	uint64_t table[DISPATCH_OPCODES];
	const struct function_place at_traceback = { .kind = FUNCTION_PROBE_TRACEBACK };
	size_t count = 0;
	remote_addr traceback;
	uint64_t size;
	int error = find_table(target, minor, table);

	for (size_t i = 0; i < HANDLERS && !error; i++) {
		int number = opcode_number(minor, handlers[i].opcode);
		bool there = false;

		if (number < 0) {
			error = handlers[i].needed ? -ENOENT : 0;
			continue;
		}
		/* One handler may serve several. */
		for (size_t k = 0; k < count; k++)
			there |= places[k].handler == table[number];
		if (there)
			continue;
		places[count] = (struct handler_place){ .handler = table[number] };
		kinds[count++] = handlers[i].kind;
	}
	if (!error)
		error = handler_places_find(&target->code, &target->eval, store_offset, places,
					    count);
	for (size_t i = 0; i < count && !error; i++) {
		const struct function_place place = {
			.kind = kinds[i],
			.number = places[i].frame_register,
			.stepped = places[i].stepped,
		};

		error = add_place(target, code, places[i].address, &place, site);
	}
	if (!error)
		error = target->interpreter_info.symbol(target->interpreter_info.context, TRACEBACK,
							&traceback, &size);
	return error ? error : add_place(target, code, traceback, &at_traceback, site);
}

/* ---- an evaluation loop that runs one call ---- */

static int find_loop_places(const struct target *target, const struct mapping *code, int minor,
			    struct function_site *site)
{
	/* _PyEval_EvalFrameDefault(frame, throwing), and from 3.9 on (thread, frame, throwing);
	 * the other one (callable, result, where), and (thread, callable, result, where). */
	const bool has_thread = minor >= 9;
	struct loop_function function = {
		.parts = &target->eval,
		.frame_argument = has_thread ? 1 : 0,
		.check_argument = has_thread ? 2 : 1,
	};
	struct loop_place places[LOOP_PLACES_MAX];
	size_t count = 0;
	uint64_t size;
	int error;

	if (target->interpreter_info.symbol(target->interpreter_info.context, CHECK,
					    &function.check, &size))
		function.check = 0;
	error = loop_places_find(&target->code, &target->reader, &function, places, &count);
	for (size_t i = 0; i < count && !error; i++) {
		const struct function_place place = {
			.kind = places[i].enters ? FUNCTION_PROBE_CALL : FUNCTION_PROBE_RETURN,
			.number = places[i].number,
			.above = places[i].above,
			.stepped = places[i].stepped,
		};

		error = add_place(target, code, places[i].address, &place, site);
	}
	return error;
}

/* ---- what cannot be ---- */

static int refuse(const struct target *target, const char *cause, const char *cure,
		  struct error *error)
{
	error_set(error, EXIT_UNSUPPORTED_PYTHON,
		  "Python functions of process %d cannot be traced: %s", (int)target->pid, cause);
	error_set_cure(error, "%s", cure);
	return -EOPNOTSUPP;
}

/* In a code object: those that tell it from another one at its place. */
static bool names_follow(int minor, const struct python_offsets *offsets)
{
	const int32_t first = offsets->code_filename;

	if (minor < FUNCTION_MINOR_HANDLERS)
		return offsets->code_name == first + 8 && offsets->code_line_table == first + 16;
	return offsets->code_name == first + 8 && offsets->code_qualname == first + 16 &&
	       offsets->code_line_table == first + 24;
}

static int check(const struct target *target, const struct python_version *version,
		 const struct python_offsets *offsets, struct error *error)
{
	static const char *const cure = "Profile it instead: pieprofd PID has the time of each "
					"function, of all versions.";

	if (version->major != 3 || version->minor < FUNCTION_MINOR_MIN)
		return refuse(target, "Python 3.5 and earlier are not known here", cure, error);
	if (version->minor > FUNCTION_MINOR_MAX)
		return refuse(target, "how Python 3.16 and later dispatch is not known here", cure,
			      error);
	if (version->free_threaded)
		return refuse(target, "free-threaded builds are not known here", cure, error);
	if (target->greenlet.count)
		return refuse(target,
			      "it runs greenlets, by whose switches of stacks calls cannot be told",
			      cure, error);
	if (target->eval_handlers.count)
		return refuse(target, "its interpreter is built of functions that call each other",
			      cure, error);
	if (!names_follow(version->minor, offsets))
		return refuse(target, "its code objects are laid out in another way", cure, error);
	return 0;
}

static struct function_config config_of(int minor, const struct frame_places *frames)
{
	const struct python_offsets *offsets = frames->offsets;
	struct function_config config = {
		.frame_code = (uint32_t)offsets->frame_code,
		.frame_previous = (uint32_t)offsets->frame_previous,
		.code_names = (uint32_t)offsets->code_filename,
		.name_words = FUNCTION_NAME_WORDS,
		.object_frame = OBJECT_FRAME,
		.met_frames = true,
	};

	if (minor >= FUNCTION_MINOR_HANDLERS) {
		config.frame_owner = (uint32_t)offsets->frame_owner;
		return config;
	}
	config.name_words = NAME_WORDS_LOOP;
	config.thread_frame = (uint32_t)offsets->thread_frame;
	config.current_thread = frames->current_thread;
	/* When these end could not be told. */
	config.met_frames = frames->current_thread != 0;
	return config;
}

int function_site_find(const struct target *target, struct function_site *ret_site,
		       struct error *error)
{
	const struct python_version version = python_runtime_version(target->runtime);
	const struct mapping *code = mapping_find(&target->mappings, target->eval.items[0].start);
	struct function_site site = { .fd = -1 };
	struct frame_places frames;
	int failure;

	frame_places_of(target->runtime, &frames);
	failure = check(target, &version, frames.offsets, error);
	if (failure)
		return failure;
	if (!code)
		failure = -ENOENT;
	else if (version.minor < FUNCTION_MINOR_HANDLERS)
		failure = find_loop_places(target, code, version.minor, &site);
	else
		failure = find_places(target, code, version.minor,
				      frames.offsets->frame_instruction, &site);
	if (failure == -ENOMEM)
		return refuse(target, "out of memory", "Free some, and try again.", error);
	if (failure && version.minor < FUNCTION_MINOR_HANDLERS)
		return refuse(target, "its evaluation loop is left in a way that is not known here",
			      "An interpreter that gcc has built, such as pyenv's, will do.",
			      error);
	if (failure)
		return refuse(target, "its interpreter dispatches in a way that is not known here",
			      "An interpreter that gcc has built with computed gotos, such as "
			      "Debian's or pyenv's, will do.",
			      error);
	site.fd = target->opener.open(target->opener.context, code);
	if (site.fd < 0) {
		error_set(error, EXIT_PERMISSION, "%s cannot be read: %s", code->path,
			  strerror(-site.fd));
		return site.fd;
	}
	site.config = config_of(version.minor, &frames);
	*ret_site = site;
	return 0;
}

void function_site_deinit(struct function_site *site)
{
	if (site->fd >= 0)
		close(site->fd);
	*site = (struct function_site){ .fd = -1 };
}
