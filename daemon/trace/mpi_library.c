/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/trace/mpi_library.h"

#include "daemon/report/encode/escape.h"
#include "daemon/trace/mpi_function.h"
#include "symbolize/elf_image.h"
#include "symbolize/symbol_table.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Records a second and process beyond which calls are counted alone. */
#define RECORDS_PER_SECOND 50000
#define RECORDS_IN_WINDOW  (RECORDS_PER_SECOND / (1000000000 / MPI_WINDOW_NS))
#define TYPE_OFFSET_MAX    128
/* Of mpi.h of MPICH's ABI. */
#define MPICH_WORLD 0x44000000
#define MPICH_SELF  0x44000001
#define MPICH_NULL  0x04000000

/* Open MPI's datatypes are objects with names, and these have the same size everywhere. */
static const struct {
	const char *symbol;
	uint64_t size;
} known_types[] = {
	{ "ompi_mpi_byte", 1 },   { "ompi_mpi_char", 1 },    { "ompi_mpi_short", 2 },
	{ "ompi_mpi_int", 4 },    { "ompi_mpi_float", 4 },   { "ompi_mpi_double", 8 },
	{ "ompi_mpi_long", 8 },   { "ompi_mpi_int64_t", 8 }, { "ompi_mpi_uint16_t", 2 },
	{ "ompi_mpi_int8_t", 1 },
};
#define KNOWN_TYPES (sizeof(known_types) / sizeof(known_types[0]))

const struct mpi_target mpi_no_library = { .handle_bytes = 8,
					   .type_size = MPI_ABSENT,
					   .limit = RECORDS_IN_WINDOW };

struct scan {
	struct mpi_library *library;
	const struct elf_image *image;
	uint64_t types[KNOWN_TYPES]; /* ELF addresses */
	bool open_mpi, mpich;
};

const struct mapping *mpi_library_find(const struct mapping_list *mappings)
{
	for (size_t i = 0; i < mappings->count; i++) {
		const struct mapping *mapping = &mappings->mappings[i];
		const char *name = path_last(mapping->path);

		/* Also libmpich, libmpi_cray; those beside it, such as libmpi_cxx, have no MPI_Init
		 * of their own. */
		if (mapping->inode && mapping->protection & PROT_EXEC &&
		    !strncmp(name, "libmpi", 6) && strncmp(name, "libmpi_cxx", 10) &&
		    strncmp(name, "libmpi_mpifh", 12) && strncmp(name, "libmpi_use", 10) &&
		    strncmp(name, "libmpi_abi", 10) && strncmp(name, "libmpicxx", 9) &&
		    strncmp(name, "libmpifort", 10))
			return mapping;
	}
	return NULL;
}

static void note_function(struct scan *scan, const char *name, const Elf64_Sym *symbol)
{
	struct mpi_library *library = scan->library;
	uint64_t offset;
	unsigned number;

	if (!mpi_function_find(name, &number) ||
	    !elf_image_file_offset(scan->image, symbol->st_value, PF_X, &offset))
		return;
	/* Two names of one place, or a name twice: one probe. */
	for (size_t i = 0; i < library->place_count; i++)
		if (library->places[i].file_offset == offset ||
		    library->places[i].function == number)
			return;
	if (library->place_count == MPI_FUNCTIONS_MAX)
		return;
	library->places[library->place_count++] = (struct mpi_place){ number, offset };
	library->addresses[number] = symbol->st_value;
}

static void note_object(struct scan *scan, const char *name, const Elf64_Sym *symbol)
{
	struct mpi_library *library = scan->library;

	if (!strcmp(name, "ompi_mpi_comm_world")) {
		library->world_address = symbol->st_value;
		scan->open_mpi = true;
	} else if (!strcmp(name, "ompi_mpi_comm_self")) {
		library->self_address = symbol->st_value;
	} else if (!strcmp(name, "ompi_mpi_comm_null")) {
		library->null_address = symbol->st_value;
	} else if (!strcmp(name, "ompi_mpi_state")) {
		library->state_address = symbol->st_value;
	} else if (!strncmp(name, "MPIR_", 5)) {
		scan->mpich = true;
	}
	for (size_t i = 0; i < KNOWN_TYPES; i++)
		if (!strcmp(name, known_types[i].symbol))
			scan->types[i] = symbol->st_value;
}

static int scan_symbols(struct scan *scan)
{
	struct symbol_table table;

	if (!symbol_table_open(scan->image, ".dynsym", SHT_DYNSYM, &table))
		return -ENOEXEC;
	for (size_t i = 0; i < table.count; i++) {
		Elf64_Sym symbol = symbol_table_entry(&table, i);
		size_t room;
		const char *name = symbol_table_name(&table, &symbol, &room);
		char copy[64];

		if (!name || symbol.st_shndx == SHN_UNDEF)
			continue;
		snprintf(copy, sizeof(copy), "%.*s", (int)(room < sizeof(copy) ? room : 63), name);
		if (symbol_is_function(&symbol) && !strncmp(copy, "MPI_", 4))
			note_function(scan, copy, &symbol);
		else
			note_object(scan, copy, &symbol);
	}
	return 0;
}

static bool sizes_are_at(const struct scan *scan, unsigned offset)
{
	for (size_t i = 0; i < KNOWN_TYPES; i++) {
		size_t available;
		const uint8_t *bytes =
			scan->types[i] ? elf_image_at(scan->image, scan->types[i], &available)
				       : NULL;
		uint64_t size;

		if (!bytes || available < offset + sizeof(size))
			return false;
		memcpy(&size, bytes + offset, sizeof(size));
		if (size != known_types[i].size)
			return false;
	}
	return true;
}

static uint32_t find_type_size(const struct scan *scan)
{
	for (unsigned offset = 0; offset < TYPE_OFFSET_MAX; offset += 8)
		if (sizes_are_at(scan, offset))
			return offset;
	return MPI_ABSENT;
}

static int settle(struct scan *scan)
{
	struct mpi_library *library = scan->library;
	struct mpi_target *layout = &library->layout;

	/* Both have names that begin with MPIR_, for debuggers. */
	if (!library->place_count || !(scan->open_mpi || scan->mpich))
		return -ENOEXEC;
	library->kind = scan->open_mpi ? MPI_KIND_OPEN_MPI : MPI_KIND_MPICH;
	layout->limit = RECORDS_IN_WINDOW;
	/* struct MPI_Status of both ABIs' mpi.h. */
	if (scan->open_mpi) {
		layout->handle_bytes = 8;
		layout->status_bytes = 24;
		layout->status_source = 0;
		layout->status_tag = 4;
		layout->type_size = find_type_size(scan);
	} else {
		layout->handle_bytes = 4;
		layout->status_bytes = 20;
		layout->status_source = 8;
		layout->status_tag = 12;
		layout->type_size = MPI_ABSENT;
	}
	return 0;
}

int mpi_library_open(const struct mapping *mapping, int fd, struct mpi_library **ret_library)
{
	struct mpi_library *library = calloc(1, sizeof(*library));
	struct scan scan = { .library = library };
	struct elf_image *image = NULL;
	int error;

	if (!library) {
		close(fd);
		return -ENOMEM;
	}
	library->fd = fd;
	library->device = mapping->device;
	library->inode = mapping->inode;
	snprintf(library->path, sizeof(library->path), "%s", mapping->path);
	error = elf_image_open(fd, &image);
	if (!error) {
		scan.image = image;
		error = scan_symbols(&scan);
	}
	if (!error)
		error = settle(&scan);
	if (image)
		elf_image_close(image);
	if (error)
		mpi_library_close(library);
	else
		*ret_library = library;
	return error;
}

void mpi_library_close(struct mpi_library *library)
{
	if (!library)
		return;
	close(library->fd);
	free(library);
}

/* Where an ELF address is in a process: by the mapping of the file's first page. */
static uint64_t address_in(const struct mpi_library *library, const struct mapping_list *mappings,
			   uint64_t address)
{
	for (size_t i = 0; i < mappings->count && address; i++) {
		const struct mapping *mapping = &mappings->mappings[i];

		if (mapping->inode == library->inode && mapping->device == library->device &&
		    mapping->file_offset == 0)
			return mapping->start + address;
	}
	return 0;
}

static uint64_t beside(const struct mpi_library *library, unsigned function, uint64_t address,
		       uint64_t sought)
{
	uint64_t known = function < MPI_FUNCTIONS_MAX ? library->addresses[function] : 0;

	return known && sought ? address - known + sought : 0;
}

uint64_t mpi_library_world(const struct mpi_library *library, unsigned function, uint64_t address)
{
	return library->kind == MPI_KIND_MPICH
		       ? MPICH_WORLD
		       : beside(library, function, address, library->world_address);
}

uint64_t mpi_library_self(const struct mpi_library *library, unsigned function, uint64_t address)
{
	return library->kind == MPI_KIND_MPICH
		       ? MPICH_SELF
		       : beside(library, function, address, library->self_address);
}

uint64_t mpi_library_null(const struct mpi_library *library, unsigned function, uint64_t address)
{
	return library->kind == MPI_KIND_MPICH
		       ? MPICH_NULL
		       : beside(library, function, address, library->null_address);
}

uint64_t mpi_library_state(const struct mpi_library *library, const struct mapping_list *mappings)
{
	return address_in(library, mappings, library->state_address);
}

int32_t mpi_library_any_source(const struct mpi_library *library)
{
	return library->kind == MPI_KIND_MPICH ? -2 : -1;
}

int32_t mpi_library_proc_null(const struct mpi_library *library)
{
	return library->kind == MPI_KIND_MPICH ? -1 : -2;
}

const char *mpi_library_kind_name(const struct mpi_library *library)
{
	return library->kind == MPI_KIND_MPICH ? "MPICH" : "Open MPI";
}
