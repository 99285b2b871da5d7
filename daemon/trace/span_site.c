/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/trace/span_site.h"

#include "attach/mapped_file.h"
#include "daemon/report/encode/escape.h"
#include "symbolize/eh_frame.h"
#include "symbolize/eh_frame_hdr.h"
#include "symbolize/static_probe.h"
#include "symbolize/symbol_table.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Of a function, what is searched for its calls. */
#define CODE_MAX  4096
#define CALLS_MAX 64
#define CALL_CODE 0xe8 /* call, by a distance of 32 bits */
#define FILES_MAX 8    /* that may be the interpreter */

/* They return twice or elsewhere, or ask from where they were called. */
static const char *const touchy[] = {
	"setjmp",     "_setjmp",     "sigsetjmp",    "__sigsetjmp", "longjmp", "_longjmp",
	"siglongjmp", "vfork",       "clone",        "clone3",      "fork",    "getcontext",
	"setcontext", "makecontext", "swapcontext",  "dlopen",      "dlmopen", "dlsym",
	"dlvsym",     "_start",      "pthread_exit", "exit",        "_exit",   "__libc_start_main",
};

struct symbol_match {
	uint64_t addresses[SPAN_PLACES_MAX];
	uint64_t size; /* of the first one */
	unsigned count;
	bool indirect, data;
};

/* ---- symbols ---- */

/* Is it that name, or a copy of it that a compiler has made ("take_gil.lto_priv.0")? */
static bool name_matches(const char *name, size_t room, const char *sought, bool copies)
{
	size_t length = strlen(sought), own = symbol_name_length(name, room);

	if (own < length || memcmp(name, sought, length) != 0)
		return false;
	if (own == length)
		return true;
	return copies && name[length] == '.' && !memmem(name, own, ".cold", 5) &&
	       !memmem(name, own, ".part", 5);
}

static void note_match(struct symbol_match *match, const Elf64_Sym *symbol)
{
	if (!symbol_is_function(symbol)) {
		match->data |= symbol->st_shndx != SHN_UNDEF;
		return;
	}
	if (ELF64_ST_TYPE(symbol->st_info) == STT_GNU_IFUNC) {
		match->indirect = true;
		return;
	}
	for (unsigned i = 0; i < match->count; i++)
		if (match->addresses[i] == symbol->st_value)
			return;
	if (match->count == SPAN_PLACES_MAX)
		return;
	if (!match->count)
		match->size = symbol->st_size;
	match->addresses[match->count++] = symbol->st_value;
}

static struct symbol_match find_symbol(const struct elf_image *image, const char *name, bool copies)
{
	static const struct {
		const char *name;
		uint32_t type;
	} tables[] = { { ".dynsym", SHT_DYNSYM }, { ".symtab", SHT_SYMTAB } };
	struct symbol_match match = { .count = 0 };

	for (unsigned k = 0; k < 2 && !match.count && !match.indirect; k++) {
		struct symbol_table table;

		if (!symbol_table_open(image, tables[k].name, tables[k].type, &table))
			continue;
		for (size_t i = 0; i < table.count; i++) {
			Elf64_Sym symbol = symbol_table_entry(&table, i);
			size_t room;
			const char *found = symbol_table_name(&table, &symbol, &room);

			if (found && name_matches(found, room, name, copies))
				note_match(&match, &symbol);
		}
	}
	return match;
}

/* ---- places ---- */

static int add_function(const struct elf_image *image, uint64_t address, struct span_site *site)
{
	struct span_place place = { 0 };

	if (!elf_image_file_offset(image, address, PF_X, &place.begin))
		return -ENOEXEC;
	if (site->count == SPAN_PLACES_MAX)
		return -E2BIG;
	site->places[site->count++] = place;
	return 0;
}

static int add_functions(const struct elf_image *image, const struct symbol_match *match,
			 struct span_site *site)
{
	int error = match->count ? 0 : -ENOENT;

	for (unsigned i = 0; i < match->count && !error; i++)
		error = add_function(image, match->addresses[i], site);
	return error;
}

static int refuse(const struct span *span, const char *reason, const char *cure,
		  struct error *error)
{
	error_set(error, EXIT_USAGE, "%s cannot be traced: %s", span->name, reason);
	error_set_cure(error, "%s", cure);
	return -EINVAL;
}

static int find_function(const struct span *span, const struct elf_image *image,
			 struct span_site *site, struct error *error)
{
	struct symbol_match match;

	for (size_t i = 0; i < sizeof(touchy) / sizeof(touchy[0]); i++)
		if (!strcmp(span->function, touchy[i]))
			return refuse(
				span,
				"it returns twice or not at all, or asks whence it was called",
				"Probe what calls it.", error);
	if (!strncmp(span->function, "_Z", 2))
		return refuse(span,
			      "it is a function of C++, which an exception may leave, and that "
			      "would end the process",
			      "Probe a function with a C interface.", error);
	match = find_symbol(image, span->function, false);
	/* An old version of it may be one function. */
	if (!match.indirect && !add_functions(image, &match, site))
		return 0;
	if (match.indirect)
		return refuse(span,
			      "there are several, of which the library chooses one when it is "
			      "loaded (IFUNC)",
			      "Probe what calls it.", error);
	if (match.data)
		return refuse(span, "it is no function", "Name a function.", error);
	error_set(error, EXIT_USAGE, "%s has no function %s", span->library, span->function);
	error_set_cure(error, "nm -D, with the library's file, has those that it exports.");
	return -ENOENT;
}

/* ---- the interpreter's ---- */

static int find_collection_probes(const struct elf_image *image, struct span_site *site)
{
	struct static_probe begins[2], ends[2];
	struct span_place place = { .between = true };

	if (static_probes_find(image, "python", "gc__start", begins, 2) != 1 ||
	    static_probes_find(image, "python", "gc__done", ends, 2) != 1 ||
	    !elf_image_file_offset(image, begins[0].address, PF_X, &place.begin) ||
	    !elf_image_file_offset(image, ends[0].address, PF_X, &place.end))
		return -ENOENT;
	if ((begins[0].counter &&
	     !elf_image_file_offset(image, begins[0].counter, PF_W, &place.counters[0])) ||
	    (ends[0].counter &&
	     !elf_image_file_offset(image, ends[0].counter, PF_W, &place.counters[1])))
		return -ENOENT;
	site->places[site->count++] = place;
	return 0;
}

/* The first of these functions that the interpreter has; newer ones first. */
static int find_first(const struct elf_image *image, const char *const *names, size_t count,
		      struct span_site *site)
{
	for (size_t i = 0; i < count; i++) {
		struct symbol_match match = find_symbol(image, names[i], true);

		if (!add_functions(image, &match, site))
			return 0;
	}
	return -ENOENT;
}

static int find_collection(const struct elf_image *image, struct span_site *site,
			   struct error *error)
{
	static const char *const names[] = { "gc_collect_main", "gc_collect_with_callback",
					     "collect_with_callback" };

	if (!find_collection_probes(image, site) ||
	    !find_first(image, names, sizeof(names) / sizeof(names[0]), site))
		return 0;
	error_set(error, EXIT_UNSUPPORTED_PYTHON,
		  "garbage collection cannot be traced: the interpreter has no symbol "
		  "gc_collect_main, and was built without static probes");
	error_set_cure(error, "Use one that is not stripped, or built --with-dtrace.");
	return -ENOENT;
}

/* Does a function begin there? The file's unwind information says so. */
static bool begins_there(const struct elf_image *image, const struct eh_frame_hdr *table,
			 uint64_t address)
{
	struct eh_frame_fde fde;
	uint64_t at;

	return !eh_frame_hdr_find(table, address, &at) && !eh_frame_fde_at(image, at, NULL, &fde) &&
	       fde.start == address;
}

/* Functions that one of that name may call, with or without a name; how many. */
static size_t find_calls(const struct elf_image *image, const struct eh_frame_hdr *table,
			 const char *name, uint64_t *ret_calls)
{
	struct symbol_match match = find_symbol(image, name, false);
	size_t available = 0, count = 0;
	const uint8_t *code =
		match.count ? elf_image_at(image, match.addresses[0], &available) : NULL;

	if (!code)
		return 0;
	if (available > match.size)
		available = match.size;
	for (size_t i = 0; i + 5 <= available && i < CODE_MAX && count < CALLS_MAX; i++) {
		int32_t distance;
		uint64_t to;

		if (code[i] != CALL_CODE)
			continue;
		memcpy(&distance, code + i + 1, sizeof(distance));
		to = match.addresses[0] + i + 5 + (uint64_t)(int64_t)distance;
		if (begins_there(image, table, to))
			ret_calls[count++] = to;
	}
	return count;
}

static bool has_name(const struct elf_image *image, uint64_t address)
{
	struct symbol_table table;

	if (!symbol_table_open(image, ".dynsym", SHT_DYNSYM, &table))
		return true;
	for (size_t i = 0; i < table.count; i++)
		if (symbol_table_entry(&table, i).st_value == address)
			return true;
	return false;
}

/* take_gil without its symbol. */
static int find_nameless(const struct elf_image *image, struct span_site *site)
{
	uint64_t restores[CALLS_MAX], acquires[CALLS_MAX], found = 0;
	struct eh_frame_hdr table;
	size_t restore_count, acquire_count;

	if (eh_frame_hdr_open(image, &table))
		return -ENOENT;
	restore_count = find_calls(image, &table, "PyEval_RestoreThread", restores);
	acquire_count = find_calls(image, &table, "PyEval_AcquireThread", acquires);
	eh_frame_hdr_deinit(&table);
	for (size_t i = 0; i < restore_count; i++)
		for (size_t k = 0; k < acquire_count; k++) {
			if (restores[i] != acquires[k] || restores[i] == found ||
			    has_name(image, restores[i]))
				continue;
			if (found)
				return -ENOENT;
			found = restores[i];
		}
	return found ? add_function(image, found, site) : -ENOENT;
}

static int find_gil(const struct elf_image *image, struct span_site *site, struct error *error)
{
	static const char *const names[] = { "take_gil" };
	static const char *const restore[] = { "PyEval_RestoreThread" };

	if (!find_first(image, names, 1, site) || !find_nameless(image, site))
		return 0;
	if (!find_first(image, restore, 1, site)) {
		site->limit = "those of threads that go on computing are not seen: the "
			      "interpreter has no symbol take_gil";
		return 0;
	}
	error_set(error, EXIT_UNSUPPORTED_PYTHON,
		  "waits for the GIL cannot be traced: the interpreter has neither a symbol "
		  "take_gil nor PyEval_RestoreThread");
	error_set_cure(error, "Use one that is not stripped.");
	return -ENOENT;
}

int span_places_find(const struct span *span, const struct elf_image *image, struct span_site *site,
		     struct error *error)
{
	switch (span->kind) {
	case SPAN_COLLECTION:
		return find_collection(image, site, error);
	case SPAN_GIL:
		return find_gil(image, site, error);
	default:
		return find_function(span, image, site, error);
	}
}

/* ---- files ---- */

static bool is_code(const struct mapping *mapping)
{
	return mapping->inode && mapping->protection & PROT_EXEC;
}

static const struct mapping *find_library(const struct span *span,
					  const struct mapping_list *mappings)
{
	for (size_t i = 0; i < mappings->count; i++)
		if (is_code(&mappings->mappings[i]) &&
		    span_library_is(span->library, mappings->mappings[i].path))
			return &mappings->mappings[i];
	return NULL;
}

static bool runs_greenlets(const struct mapping_list *mappings)
{
	for (size_t i = 0; i < mappings->count; i++)
		if (is_code(&mappings->mappings[i]) &&
		    !strncmp(path_last(mappings->mappings[i].path), "_greenlet.", 10))
			return true;
	return false;
}

/* Files that may be the interpreter's: a library by its name, then the program itself. */
static size_t find_interpreters(pid_t pid, const struct mapping_list *mappings,
				const struct mapping **ret_files)
{
	char link[64], program[PATH_MAX];
	ssize_t length;
	size_t count = 0;

	snprintf(link, sizeof(link), "/proc/%d/exe", (int)pid);
	length = readlink(link, program, sizeof(program) - 1);
	program[length > 0 ? length : 0] = '\0';
	for (unsigned turn = 0; turn < 2; turn++)
		for (size_t i = 0; i < mappings->count && count < FILES_MAX; i++) {
			const struct mapping *mapping = &mappings->mappings[i];
			bool library = !strncmp(path_last(mapping->path), "libpython", 9);

			if (is_code(mapping) &&
			    (turn ? !library && !strcmp(mapping->path, program) : library) &&
			    (!count || ret_files[count - 1]->inode != mapping->inode))
				ret_files[count++] = mapping;
		}
	return count;
}

static int look_into(const struct span *span, const struct mapping_opener *opener,
		     const struct mapping *mapping, struct span_site *site, struct error *error)
{
	struct elf_image *image = NULL;
	int failure;

	site->fd = opener->open(opener->context, mapping);
	failure = site->fd < 0 ? site->fd : elf_image_open(site->fd, &image);
	if (failure)
		error_set(error, EXIT_PERMISSION, "%s cannot be read: %s", mapping->path,
			  strerror(-failure));
	else
		failure = span_places_find(span, image, site, error);
	if (image)
		elf_image_close(image);
	if (failure)
		span_site_deinit(site);
	return failure;
}

void span_site_deinit(struct span_site *site)
{
	if (site->fd >= 0)
		close(site->fd);
	*site = (struct span_site){ .fd = -1 };
}

/* What may run Python code, and with it switch to another stack. */
static bool may_switch(const struct span *span, const struct span_site *site)
{
	return span->kind != SPAN_GIL && !site->places[0].between;
}

int span_site_find(const struct span *span, pid_t pid, struct impersonator *impersonator,
		   const struct mapping_list *mappings, struct span_site *ret_site,
		   struct error *error)
{
	const struct mapped_files files = { pid, impersonator };
	const struct mapping_opener opener = mapped_files_opener(&files);
	const struct mapping *found[FILES_MAX];
	struct span_site site = { .fd = -1 };
	size_t count;
	int failure = -ENODATA;

	found[0] = span->kind == SPAN_FUNCTION ? find_library(span, mappings) : NULL;
	count = span->kind == SPAN_FUNCTION ? found[0] != NULL
					    : find_interpreters(pid, mappings, found);
	error_set(error, EXIT_NO_TARGET, "process %d has not loaded %s", (int)pid,
		  span->kind == SPAN_FUNCTION ? span->library : "a Python interpreter");
	error_set_cure(error, "/proc/%d/maps has the files that it has loaded.", (int)pid);
	for (size_t i = 0; i < count && failure; i++)
		failure = look_into(span, &opener, found[i], &site, error);
	if (!failure && may_switch(span, &site) && runs_greenlets(mappings)) {
		span_site_deinit(&site);
		error_set(error, EXIT_UNSUPPORTED_PYTHON,
			  "%s cannot be traced in process %d: it runs greenlets, whose switches "
			  "of stacks the kernel's return probes do not bear",
			  span->name, (int)pid);
		error_set_cure(error, "Trace calls of MPI, gil, or with Debian's Python gc.");
		failure = -EOPNOTSUPP;
	}
	if (!failure)
		*ret_site = site;
	return failure;
}
