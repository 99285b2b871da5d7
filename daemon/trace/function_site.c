/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/trace/function_site.h"

#include "attach/handler_place.h"
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
			.frame_register = places[i].frame_register,
			.stepped = places[i].stepped,
		};

		error = add_place(target, code, places[i].address, &place, site);
	}
	if (!error)
		error = target->interpreter_info.symbol(target->interpreter_info.context, TRACEBACK,
							&traceback, &size);
	return error ? error : add_place(target, code, traceback, &at_traceback, site);
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

static int check(const struct target *target, const struct python_version *version,
		 const struct python_offsets *offsets, struct error *error)
{
	static const char *const cure = "Profile it instead: pieprofd PID has the time of each "
					"function, of all versions.";

	if (version->major != 3 || version->minor < FUNCTION_MINOR_MIN)
		return refuse(target, "Python 3.10 and earlier do not tell where a call begins",
			      cure, error);
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
	if (offsets->code_name != offsets->code_filename + 8 ||
	    offsets->code_qualname != offsets->code_filename + 16 ||
	    offsets->code_line_table != offsets->code_filename + 24)
		return refuse(target, "its code objects are laid out in another way", cure, error);
	return 0;
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
	failure = code ? find_places(target, code, version.minor, frames.offsets->frame_instruction,
				     &site)
		       : -ENOENT;
	if (failure)
		return refuse(target,
			      failure == -ENOMEM
				      ? "out of memory"
				      : "its interpreter dispatches in a way that is not "
					"known here",
			      "An interpreter that gcc has built with computed gotos, such as "
			      "Debian's or pyenv's, will do.",
			      error);
	site.fd = target->opener.open(target->opener.context, code);
	if (site.fd < 0) {
		error_set(error, EXIT_PERMISSION, "%s cannot be read: %s", code->path,
			  strerror(-site.fd));
		return site.fd;
	}
	site.config = (struct function_config){
		.frame_code = (uint32_t)frames.offsets->frame_code,
		.frame_previous = (uint32_t)frames.offsets->frame_previous,
		.frame_owner = (uint32_t)frames.offsets->frame_owner,
		.code_names = (uint32_t)frames.offsets->code_filename,
		.object_frame = OBJECT_FRAME,
	};
	*ret_site = site;
	return 0;
}

void function_site_deinit(struct function_site *site)
{
	if (site->fd >= 0)
		close(site->fd);
	*site = (struct function_site){ .fd = -1 };
}
