/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What live tests of pyintrospect/ need and its archive does not hold: the
 * interpreters of this machine, a child that runs one, a memory reader and a
 * debug_info over plain ELF and libdw. Kept apart from symbolize/ and attach/
 * on purpose: these tests link neither.
 */
#ifndef PIEPROFD_TESTS_UNIT_SUPPORT_LIVE_H
#define PIEPROFD_TESTS_UNIT_SUPPORT_LIVE_H

#include "common/debug_info.h"
#include "common/memory.h"

#include <dirent.h>
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwelf.h>
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <glob.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#define LIVE_UNUSED __attribute__((unused)) static

/* ---- interpreters ---- */

#define LIVE_PYTHONS_MAX 32

struct live_python {
	char path[PATH_MAX];
	int minor, micro;
	bool script; /* one of tests/tools/newer-debian's, which runs it in another root */
	bool free_threaded;
};

LIVE_UNUSED bool live_is_script(const char *path)
{
	char start[2] = "";
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t size = fd < 0 ? -1 : read(fd, start, sizeof(start));

	if (fd >= 0)
		close(fd);
	return size == (ssize_t)sizeof(start) && memcmp(start, "#!", sizeof(start)) == 0;
}

struct live_pythons {
	struct live_python items[LIVE_PYTHONS_MAX];
	size_t count;
};

LIVE_UNUSED void live_pythons_add(struct live_pythons *pythons, const char *path,
				  bool free_threaded_wanted)
{
	char command[PATH_MAX + 256], real[PATH_MAX];
	struct live_python *python = &pythons->items[pythons->count];
	int free_threaded;
	FILE *pipe;

	if (pythons->count == LIVE_PYTHONS_MAX || !realpath(path, real))
		return;
	for (size_t i = 0; i < pythons->count; i++)
		if (strcmp(pythons->items[i].path, real) == 0)
			return;
	snprintf(command, sizeof(command),
		 "'%s' -c 'import sys; print(\"%%d %%d %%d\" %% (sys.version_info[1], "
		 "sys.version_info[2], \"t\" in sys.abiflags))' "
		 "2>/dev/null",
		 real);
	pipe = popen(command, "r");
	if (!pipe)
		return;
	if (fscanf(pipe, "%d %d %d", &python->minor, &python->micro, &free_threaded) == 3 &&
	    python->minor >= 6 && python->minor <= 15 && free_threaded == free_threaded_wanted) {
		python->free_threaded = free_threaded;
		snprintf(python->path, sizeof(python->path), "%s", real);
		python->script = live_is_script(real);
		pythons->count++;
	}
	pclose(pipe);
}

/* CPython 3.6 to 3.15 on PATH (but not through version managers' shims) and below ~/.pyenv. */
LIVE_UNUSED const struct live_pythons *live_pythons(void)
{
	static struct live_pythons pythons;
	const char *home = getenv("HOME"), *path = getenv("PATH");
	char folders[PATH_MAX] = "/usr/bin:/usr/local/bin:", pattern[PATH_MAX + 64];
	char *rest, *folder;
	glob_t found;

	if (pythons.count)
		return &pythons;
	strncat(folders, path ? path : "", sizeof(folders) - strlen(folders) - 1);
	for (folder = strtok_r(folders, ":", &rest); folder; folder = strtok_r(NULL, ":", &rest)) {
		for (int minor = 6; minor <= 15 && !strstr(folder, "shims"); minor++) {
			snprintf(pattern, sizeof(pattern), "%s/python3.%d", folder, minor);
			if (access(pattern, X_OK) == 0)
				live_pythons_add(&pythons, pattern, false);
		}
	}
	for (int minor = 6; minor <= 15; minor++) {
		snprintf(pattern, sizeof(pattern), "%s/.pyenv/versions/3.%d.*/bin/python3.%d",
			 home ? home : "", minor, minor);
		if (glob(pattern, 0, NULL, &found))
			continue;
		for (size_t i = 0; i < found.gl_pathc; i++)
			live_pythons_add(&pythons, found.gl_pathv[i], false);
		globfree(&found);
	}
	return &pythons;
}

/* Free-threaded builds, python3.13t and later: on PATH, and where pyenv and uv keep them. */
LIVE_UNUSED const struct live_pythons *live_free_threaded(void)
{
	static const char *const kept[] = { ".pyenv/versions/*t", ".local/share/uv/python/*" };
	static struct live_pythons pythons;
	const char *home = getenv("HOME"), *path = getenv("PATH");
	char *folders = strdup(path ? path : ""), pattern[PATH_MAX + 64];
	char *rest, *folder;
	glob_t found;

	if (pythons.count || !folders) {
		free(folders);
		return &pythons;
	}
	for (folder = strtok_r(folders, ":", &rest); folder; folder = strtok_r(NULL, ":", &rest)) {
		for (int minor = 13; minor <= 15 && !strstr(folder, "shims"); minor++) {
			snprintf(pattern, sizeof(pattern), "%s/python3.%dt", folder, minor);
			if (access(pattern, X_OK) == 0)
				live_pythons_add(&pythons, pattern, true);
		}
	}
	free(folders);
	for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++) {
		snprintf(pattern, sizeof(pattern), "%s/%s/bin/python3.*t", home ? home : "",
			 kept[i]);
		if (glob(pattern, 0, NULL, &found))
			continue;
		for (size_t k = 0; k < found.gl_pathc; k++)
			live_pythons_add(&pythons, found.gl_pathv[k], true);
		globfree(&found);
	}
	return &pythons;
}

/* ---- a child that runs a script ---- */

struct live_target {
	pid_t pid;
	FILE *output; /* its stdout */
	FILE *input;  /* its stdin */
};

LIVE_UNUSED bool live_target_start(struct live_target *target, const char *python,
				   const char *script)
{
	int output[2], input[2];

	*target = (struct live_target){ 0 };
	if (pipe2(output, O_CLOEXEC) || pipe2(input, O_CLOEXEC))
		return false;
	target->pid = fork();
	if (target->pid < 0)
		return false;
	if (target->pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL); /* a test that fails leaves nothing running */
		dup2(input[0], 0);
		dup2(output[1], 1);
		unsetenv("PYTHONPATH");
		setenv("PYTHONIOENCODING", "utf-8", 1);
		execl(python, python, "-S", "-c", script, NULL);
		_exit(127);
	}
	close(output[1]);
	close(input[0]);
	target->output = fdopen(output[0], "r");
	target->input = fdopen(input[1], "w");
	return target->output && target->input;
}

LIVE_UNUSED void live_target_end(struct live_target *target)
{
	pid_t pid;

	kill(target->pid, SIGKILL);
	/* Threads that were seized have to be waited for before their leader can be. */
	do
		pid = waitpid(-1, NULL, __WALL);
	while (pid != target->pid && (pid > 0 || errno == EINTR));
	fclose(target->output);
	fclose(target->input);
}

/* Reads a line without its end; false at the end of the output. */
LIVE_UNUSED bool live_target_line(struct live_target *target, char *line, size_t size)
{
	if (!fgets(line, (int)size, target->output))
		return false;
	line[strcspn(line, "\n")] = '\0';
	return true;
}

/* Waits until the thread is in this system call (2 s at most); its stack pointer there. */
LIVE_UNUSED bool live_thread_wait_syscall(pid_t pid, pid_t tid, long number, uint64_t *ret_sp)
{
	char path[64], text[256];

	snprintf(path, sizeof(path), "/proc/%d/task/%d/syscall", pid, tid);
	for (unsigned i = 0; i < 2000; i++) {
		int fd = open(path, O_RDONLY | O_CLOEXEC);
		ssize_t size = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
		long now;

		if (fd >= 0)
			close(fd);
		if (size <= 0)
			return false;
		text[size] = '\0';
		if (sscanf(text, "%ld %*s %*s %*s %*s %*s %*s %lx", &now, ret_sp) == 2 &&
		    now == number)
			return true;
		usleep(1000);
	}
	return false;
}

/* ---- memory ---- */

#define LIVE_BATCH_MAX 1024 /* IOV_MAX */

struct live_memory {
	pid_t pid;
	unsigned long calls; /* process_vm_readv() made */
};

LIVE_UNUSED int live_memory_read(void *context, struct memory_range *ranges, size_t count)
{
	struct live_memory *memory = context;
	struct iovec local[LIVE_BATCH_MAX], remote[LIVE_BATCH_MAX];
	size_t i = 0;

	while (i < count) {
		size_t batch = 0, done = 0;
		ssize_t got;

		while (i + batch < count && batch < LIVE_BATCH_MAX) {
			struct memory_range *range = &ranges[i + batch];

			local[batch] = (struct iovec){ range->buffer, range->size };
			remote[batch].iov_base = (void *)(uintptr_t)range->address;
			remote[batch++].iov_len = range->size;
		}
		got = process_vm_readv(memory->pid, local, batch, remote, batch, 0);
		memory->calls++;
		if (got < 0 && errno != EFAULT)
			return -errno;
		for (got = got < 0 ? 0 : got; done < batch; done++) {
			if ((size_t)got < ranges[i + done].size)
				break;
			got -= (ssize_t)ranges[i + done].size;
			ranges[i + done].error = 0;
		}
		if (done < batch)
			ranges[i + done++].error = -EFAULT;
		i += done;
	}
	return 0;
}

/* ---- symbols, sections and types of the interpreter's binary ---- */

#define LIVE_TYPES_MAX 64

struct live_binary {
	char path[PATH_MAX + 64];
	int fd, debug_fd;
	Elf *elf;
	Dwarf *dwarf;
	uint64_t bias;
	bool use_dwarf;
	struct {
		char name[64];
		Dwarf_Off offset;
	} types[LIVE_TYPES_MAX];
	size_t type_count;
};

LIVE_UNUSED int live_symbol_in(const struct live_binary *binary, Elf *elf, const char *name,
			       remote_addr *ret_address, uint64_t *ret_size)
{
	for (unsigned type = 0; type < 2; type++) {
		Elf_Scn *section = NULL;

		while ((section = elf_nextscn(elf, section))) {
			GElf_Shdr header;
			Elf_Data *data;
			GElf_Sym symbol;

			gelf_getshdr(section, &header);
			if (header.sh_type != (type ? SHT_SYMTAB : SHT_DYNSYM))
				continue;
			data = elf_getdata(section, NULL);
			for (int i = 0; gelf_getsym(data, i, &symbol); i++) {
				const char *found = elf_strptr(elf, header.sh_link, symbol.st_name);

				if (!found || !symbol.st_value || strcmp(found, name) != 0)
					continue;
				*ret_address = symbol.st_value + binary->bias;
				*ret_size = symbol.st_size;
				return 0;
			}
		}
	}
	return -ENOENT;
}

/* Of the binary itself: a separate debug file is not asked, as the code under test has none. */
LIVE_UNUSED int live_symbol(void *context, const char *name, remote_addr *ret_address,
			    uint64_t *ret_size)
{
	const struct live_binary *binary = context;

	return live_symbol_in(binary, binary->elf, name, ret_address, ret_size);
}

LIVE_UNUSED int live_section(void *context, const char *name, remote_addr *ret_address,
			     uint64_t *ret_size)
{
	struct live_binary *binary = context;
	Elf_Scn *section = NULL;
	size_t names;

	elf_getshdrstrndx(binary->elf, &names);
	while ((section = elf_nextscn(binary->elf, section))) {
		GElf_Shdr header;
		const char *found;

		gelf_getshdr(section, &header);
		found = elf_strptr(binary->elf, names, header.sh_name);
		if (!found || strcmp(found, name) != 0)
			continue;
		*ret_address = header.sh_addr + binary->bias;
		*ret_size = header.sh_size;
		return 0;
	}
	return -ENOENT;
}

/* Through typedefs and qualifiers to the structure. */
LIVE_UNUSED bool live_peel(Dwarf_Die *die)
{
	Dwarf_Attribute attribute;

	for (;;) {
		switch (dwarf_tag(die)) {
		case DW_TAG_typedef:
		case DW_TAG_const_type:
		case DW_TAG_volatile_type:
			if (!dwarf_attr_integrate(die, DW_AT_type, &attribute) ||
			    !dwarf_formref_die(&attribute, die))
				return false;
			break;
		case DW_TAG_structure_type:
		case DW_TAG_union_type:
			return true;
		default:
			return false;
		}
	}
}

LIVE_UNUSED int live_find_type(struct live_binary *binary, const char *name, Dwarf_Die *ret_die)
{
	Dwarf_Off offset = 0, next;
	size_t header;

	for (size_t i = 0; i < binary->type_count; i++)
		if (strcmp(binary->types[i].name, name) == 0)
			return dwarf_offdie(binary->dwarf, binary->types[i].offset, ret_die)
				       ? 0
				       : -ENOENT;
	for (; dwarf_nextcu(binary->dwarf, offset, &next, &header, NULL, NULL, NULL) == 0;
	     offset = next) {
		Dwarf_Die unit, child;

		if (!dwarf_offdie(binary->dwarf, offset + header, &unit) ||
		    dwarf_child(&unit, &child))
			continue;
		do {
			const char *found = dwarf_diename(&child);
			Dwarf_Die die = child;

			if (!found || strcmp(found, name) != 0 || !live_peel(&die) ||
			    dwarf_hasattr(&die, DW_AT_declaration))
				continue;
			if (binary->type_count < LIVE_TYPES_MAX) {
				snprintf(binary->types[binary->type_count].name, 64, "%s", name);
				binary->types[binary->type_count++].offset = dwarf_dieoffset(&die);
			}
			*ret_die = die;
			return 0;
		} while (dwarf_siblingof(&child, &child) == 0);
	}
	return -ENOENT;
}

LIVE_UNUSED bool live_find_member(Dwarf_Die *type, const char *name, size_t length,
				  uint32_t *offset, Dwarf_Die *ret_type)
{
	Dwarf_Die child;

	if (dwarf_child(type, &child))
		return false;
	do {
		Dwarf_Attribute attribute;
		Dwarf_Word location = 0;
		const char *found = dwarf_diename(&child);
		Dwarf_Die member_type;
		uint32_t inner;

		if (dwarf_tag(&child) != DW_TAG_member)
			continue;
		if (dwarf_attr_integrate(&child, DW_AT_data_member_location, &attribute))
			dwarf_formudata(&attribute, &location);
		if (!dwarf_attr_integrate(&child, DW_AT_type, &attribute) ||
		    !dwarf_formref_die(&attribute, &member_type))
			continue;
		if (found && strlen(found) == length && memcmp(found, name, length) == 0) {
			*offset += (uint32_t)location;
			*ret_type = member_type;
			return true;
		}
		inner = *offset + (uint32_t)location;
		if (!found && live_peel(&member_type) &&
		    live_find_member(&member_type, name, length, &inner, ret_type)) {
			*offset = inner;
			return true;
		}
	} while (dwarf_siblingof(&child, &child) == 0);
	return false;
}

LIVE_UNUSED int live_member_offset(void *context, const char *type, const char *member,
				   uint32_t *ret_offset)
{
	struct live_binary *binary = context;
	uint32_t offset = 0;
	Dwarf_Die die;

	if (!binary->dwarf || !binary->use_dwarf)
		return -ENODATA;
	if (live_find_type(binary, type, &die))
		return -ENOENT;
	for (;;) {
		size_t length = strcspn(member, ".");
		Dwarf_Die next;

		if (!live_peel(&die))
			return -ENOENT;
		if (dwarf_hasattr(&die, DW_AT_declaration) &&
		    live_find_type(binary, dwarf_diename(&die), &die))
			return -ENOENT;
		if (!live_find_member(&die, member, length, &offset, &next))
			return -ENOENT;
		if (!member[length])
			break;
		member += length + 1;
		die = next;
	}
	*ret_offset = offset;
	return 0;
}

LIVE_UNUSED int live_type_size(void *context, const char *type, uint32_t *ret_size)
{
	struct live_binary *binary = context;
	Dwarf_Die die;

	if (!binary->dwarf || !binary->use_dwarf)
		return -ENODATA;
	if (live_find_type(binary, type, &die))
		return -ENOENT;
	*ret_size = (uint32_t)dwarf_bytesize(&die);
	return 0;
}

LIVE_UNUSED struct debug_info live_debug_info(struct live_binary *binary)
{
	return (struct debug_info){
		.symbol = live_symbol,
		.section = live_section,
		.member_offset = live_member_offset,
		.type_size = live_type_size,
		.context = binary,
	};
}

LIVE_UNUSED void live_binary_close(struct live_binary *binary)
{
	if (binary->dwarf)
		dwarf_end(binary->dwarf);
	if (binary->elf)
		elf_end(binary->elf);
	if (binary->fd > 0)
		close(binary->fd);
	if (binary->debug_fd > 0)
		close(binary->debug_fd);
	memset(binary, 0, sizeof(*binary));
}

/* The binary's separate debug file, where the target's system keeps those, by build-id; or -1. */
LIVE_UNUSED int live_debug_file_open(Elf *elf, pid_t pid)
{
	char path[PATH_MAX];
	const void *id;
	ssize_t size = dwelf_elf_gnu_build_id(elf, &id);
	int length;

	if (size < 2 || size > 64)
		return -1;
	length = snprintf(path, sizeof(path), "/proc/%d/root/usr/lib/debug/.build-id/%02x/", pid,
			  *(const uint8_t *)id);
	for (ssize_t i = 1; i < size; i++)
		length += snprintf(path + length, sizeof(path) - (size_t)length, "%02x",
				   ((const uint8_t *)id)[i]);
	snprintf(path + length, sizeof(path) - (size_t)length, ".debug");
	return open(path, O_RDONLY | O_CLOEXEC);
}

/* Opens the file that starts at this address of the target; false: no ELF, no interpreter in it. */
LIVE_UNUSED bool live_binary_open(struct live_binary *binary, pid_t pid, const char *path,
				  uint64_t start)
{
	GElf_Ehdr header;
	size_t segments;
	remote_addr address;
	uint64_t size;

	memset(binary, 0, sizeof(*binary));
	snprintf(binary->path, sizeof(binary->path), "%s", path);
	elf_version(EV_CURRENT);
	binary->fd = open(path, O_RDONLY | O_CLOEXEC);
	binary->elf = binary->fd < 0 ? NULL : elf_begin(binary->fd, ELF_C_READ_MMAP, NULL);
	if (!binary->elf || elf_kind(binary->elf) != ELF_K_ELF ||
	    !gelf_getehdr(binary->elf, &header))
		goto no;
	if (header.e_type == ET_DYN) {
		elf_getphdrnum(binary->elf, &segments);
		for (size_t i = 0; i < segments; i++) {
			GElf_Phdr segment;

			gelf_getphdr(binary->elf, (int)i, &segment);
			if (segment.p_type == PT_LOAD) {
				binary->bias = start - (segment.p_vaddr - segment.p_offset);
				break;
			}
		}
	}
	if (live_symbol(binary, "_PyRuntime", &address, &size) &&
	    live_symbol(binary, "_PyThreadState_Current", &address, &size))
		goto no;
	binary->dwarf = dwarf_begin_elf(binary->elf, DWARF_C_READ, NULL);
	if (!binary->dwarf) {
		binary->debug_fd = live_debug_file_open(binary->elf, pid);
		if (binary->debug_fd >= 0)
			binary->dwarf = dwarf_begin(binary->debug_fd, DWARF_C_READ);
	}
	binary->use_dwarf = true;
	return true;
no:
	live_binary_close(binary);
	return false;
}

/* The target's interpreter: its executable or its libpython, which may be in another root. */
LIVE_UNUSED bool live_binary_find(struct live_binary *binary, pid_t pid)
{
	char path[PATH_MAX], maps[64], line[PATH_MAX + 128], full[PATH_MAX + 64];
	bool found = false;
	uint64_t start, offset;
	FILE *file;

	snprintf(maps, sizeof(maps), "/proc/%d/maps", pid);
	file = fopen(maps, "r");
	while (file && !found && fgets(line, sizeof(line), file))
		if (sscanf(line, "%lx-%*x %*s %lx %*s %*s %4095[^\n]", &start, &offset, path) ==
			    3 &&
		    offset == 0 && strstr(path, "python")) {
			snprintf(full, sizeof(full), "/proc/%d/root%s", pid, path);
			found = live_binary_open(binary, pid, full, start);
		}
	if (file)
		fclose(file);
	return found;
}

#endif
