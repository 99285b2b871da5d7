/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inputs for tests/fuzz that are made of live things, for tests/fuzz/seeds:
 *
 *   fuzz_seeds runtime PYTHON FILE [dwarf|tasks|later|hidden|stack|clock]
 *                                      a live interpreter, see remote_image.h
 *   fuzz_seeds profile FOLDER          profiles and recordings
 *   fuzz_seeds contents PYTHON FILE    objects of a live interpreter
 */
#include "attach/bpf/clock_record.h"
#include "attach/procfs.h"
#include "common/stack_snapshot.h"
#include "daemon/capture/target.h"
#include "daemon/contents/fingerprint.h"
#include "daemon/report/recording/profile_codec.h"
#include "daemon/report/recording/recording.h"
#include "pyintrospect/asyncio_task.h"
#include "pyintrospect/code_names.h"
#include "pyintrospect/gil.h"
#include "pyintrospect/operand_reader.h"
#include "pyintrospect/python_stack.h"
#include "pyintrospect/thread_list.h"
#include "tests/fuzz/remote_image.h"
#include "tests/unit/copied_thread.h"
#include "tests/unit/report_sample.h"
#include "tests/unit/support_live.h"

/*
 * Of what is searched through, only that it cannot be read; or, where nothing is
 * known but by searching, zeros but for what is to be found.
 */
#define PIECE_MAX   16384
#define WINDOW      256
#define WINDOWS_MAX 16
#define SEEN_MAX    8192

struct recorder {
	FILE *file;
	struct debug_info info; /* the live ones */
	struct memory_reader reader;
	bool with_dwarf;
	bool hidden;                      /* the binary has no symbols */
	remote_addr windows[WINDOWS_MAX]; /* what is to be found all the same */
	size_t window_count;
	struct {
		remote_addr address;
		size_t size;
	} seen[SEEN_MAX];
	size_t seen_count;
};

static void put(struct recorder *recorder, uint64_t number, size_t size)
{
	fuzz_must(fwrite(&number, 1, size, recorder->file) == size);
}

static void put_name(struct recorder *recorder, enum image_entry kind, const char *name)
{
	put(recorder, kind, 1);
	put(recorder, strlen(name), 1);
	fputs(name, recorder->file);
}

static int record_place(struct recorder *recorder, enum image_entry kind, const char *name,
			remote_addr *ret_address, uint64_t *ret_size)
{
	const struct debug_info *info = &recorder->info;
	int error = recorder->hidden && kind == IMAGE_SYMBOL
			    ? -ENOENT
			    : (kind == IMAGE_SYMBOL ? info->symbol : info->section)(
				      info->context, name, ret_address, ret_size);

	if (error)
		return error;
	put_name(recorder, kind, name);
	put(recorder, *ret_address, 8);
	put(recorder, *ret_size, 4);
	return 0;
}

static int record_symbol(void *context, const char *name, remote_addr *ret_address,
			 uint64_t *ret_size)
{
	return record_place(context, IMAGE_SYMBOL, name, ret_address, ret_size);
}

static int record_section(void *context, const char *name, remote_addr *ret_address,
			  uint64_t *ret_size)
{
	return record_place(context, IMAGE_SECTION, name, ret_address, ret_size);
}

static int record_member(void *context, const char *type, const char *member, uint32_t *ret_offset)
{
	struct recorder *recorder = context;
	const struct debug_info *info = &recorder->info;
	char name[256];
	int error = recorder->with_dwarf
			    ? info->member_offset(info->context, type, member, ret_offset)
			    : -ENODATA;

	if (error)
		return error;
	snprintf(name, sizeof(name), "%s.%s", type, member);
	put_name(recorder, IMAGE_MEMBER, name);
	put(recorder, *ret_offset, 4);
	return 0;
}

static int record_size(void *context, const char *type, uint32_t *ret_size)
{
	struct recorder *recorder = context;
	const struct debug_info *info = &recorder->info;
	int error =
		recorder->with_dwarf ? info->type_size(info->context, type, ret_size) : -ENODATA;

	if (error)
		return error;
	put_name(recorder, IMAGE_SIZE, type);
	put(recorder, *ret_size, 4);
	return 0;
}

/* False: it is in the file already. */
static bool note_piece(struct recorder *recorder, const struct memory_range *range)
{
	for (size_t i = 0; i < recorder->seen_count; i++)
		if (range->address - recorder->seen[i].address < recorder->seen[i].size &&
		    range->address + range->size <=
			    recorder->seen[i].address + recorder->seen[i].size)
			return false;
	fuzz_must(recorder->seen_count < SEEN_MAX);
	recorder->seen[recorder->seen_count].address = range->address;
	recorder->seen[recorder->seen_count++].size = range->size;
	return true;
}

static void put_piece(struct recorder *recorder, const struct memory_range *range)
{
	const uint8_t *bytes = range->buffer;
	size_t there = range->size;

	while (there && !bytes[there - 1])
		there--;
	put(recorder, IMAGE_MEMORY, 1);
	put(recorder, range->address, 8);
	put(recorder, range->size, 4);
	put(recorder, there, 2);
	fuzz_must(fwrite(bytes, 1, there, recorder->file) == there);
}

static void record_piece(struct recorder *recorder, const struct memory_range *range)
{
	if (note_piece(recorder, range))
		put_piece(recorder, range);
}

/* Zeros, but for the windows in it. */
static int read_windows(struct recorder *recorder, struct memory_range *range)
{
	bool is_new = note_piece(recorder, range);

	memset(range->buffer, 0, range->size);
	if (is_new)
		put_piece(recorder, range);
	for (size_t i = 0; i < recorder->window_count; i++) {
		uint64_t offset = recorder->windows[i] - range->address;
		struct memory_range window = { recorder->windows[i],
					       (uint8_t *)range->buffer + offset, WINDOW, 0 };

		if (offset >= range->size || range->size - offset < WINDOW)
			continue;
		if (memory_read(&recorder->reader, window.address, window.buffer, window.size))
			return -EFAULT;
		if (is_new)
			put_piece(recorder, &window);
	}
	return 0;
}

static int record_read(void *context, struct memory_range *ranges, size_t count)
{
	struct recorder *recorder = context;

	for (size_t i = 0; i < count; i++) {
		struct memory_range *range = &ranges[i];

		if (range->size > PIECE_MAX) {
			range->error = recorder->hidden ? read_windows(recorder, range) : -EFAULT;
			continue;
		}
		range->error =
			memory_read(&recorder->reader, range->address, range->buffer, range->size);
		if (!range->error)
			record_piece(recorder, range);
	}
	return 0;
}

static void add_window(struct recorder *recorder, remote_addr address)
{
	fuzz_must(recorder->window_count < WINDOWS_MAX);
	recorder->windows[recorder->window_count++] = address & ~7ull;
}

/* Where the version's text is. */
static void find_version(struct recorder *recorder, struct python_version version)
{
	remote_addr address;
	uint64_t size;
	char text[32], *bytes, *found;

	snprintf(text, sizeof(text), "%d.%d.%d", version.major, version.minor, version.micro);
	fuzz_must(recorder->info.section(recorder->info.context, ".rodata", &address, &size) == 0);
	bytes = malloc(size);
	fuzz_must(bytes && memory_read(&recorder->reader, address, bytes, size) == 0);
	for (found = bytes; found && recorder->window_count < WINDOWS_MAX / 2; found++) {
		found = memmem(found, size - (size_t)(found - bytes), text, strlen(text) + 1);
		if (!found)
			break;
		add_window(recorder, address + (uint64_t)(found - bytes));
	}
	free(bytes);
}

/* What runtime_search.c is to find: the symbols tell where it is. */
static void hide(struct recorder *recorder, struct python_version version)
{
	static const char *const symbols[] = { "PyCode_Type", "PyType_Type", "_PyRuntime" };
	remote_addr address, name;
	uint64_t size;

	find_version(recorder, version);
	for (size_t i = 0; i < sizeof(symbols) / sizeof(symbols[0]); i++) {
		if (recorder->info.symbol(recorder->info.context, symbols[i], &address, &size))
			continue;
		add_window(recorder, address);
		/* The types' names, the list of interpreters. */
		if (memory_read_u64(&recorder->reader, address + 24, &name) == 0 && i < 2)
			add_window(recorder, name);
	}
	recorder->hidden = true;
}

static const char plain_script[] =
	"import os, threading\n"
	"gate, keep = os.pipe()\n"
	"def hold(x): return os.read(gate, 1)\n"
	"def gen(n): yield hold(n)\n"
	"def sort(): return sorted([1], key=lambda x: list(gen(2)))\n"
	"t = threading.Thread(target=hold, args=(1,), name='W\\u00f6rker'); t.daemon = True; "
	"t.start()\n"
	"os.write(1, b'READY\\n')\n"
	"sort()\n";

static const char tasks_script[] = "import asyncio, os\n"
				   "async def leaf(): await asyncio.sleep(1000)\n"
				   "async def waits(): await leaf()\n"
				   "async def main():\n"
				   "    t = asyncio.ensure_future(waits())\n"
				   "    await asyncio.sleep(0.01)\n"
				   "    os.write(1, b'READY\\n')\n"
				   "    await t\n"
				   "asyncio.get_event_loop_policy().new_event_loop()."
				   "run_until_complete(main())\n";

/* As the target asks for them. */
static void record_operands(struct python_runtime *runtime, const struct python_stack *stack)
{
	struct operand_sample samples[OPERAND_FRAMES_MAX];
	size_t frames[OPERAND_FRAMES_MAX] = { 0, 1, 2, 3 };
	struct operand_reader *reader = operand_reader_create(runtime);
	size_t count = stack->count < OPERAND_FRAMES_MAX ? stack->count : OPERAND_FRAMES_MAX;
	struct code_names names;
	char name[32];

	fuzz_must(reader);
	fuzz_must(operand_reader_read(reader, stack, frames, count, samples) == 0);
	operand_reader_destroy(reader);
	for (size_t i = 0; i < count; i++) {
		if (code_names_find(runtime, stack->frames[i].code, &names))
			continue;
		for (int kind = PYTHON_NAMES; kind <= PYTHON_CELLS; kind++)
			for (uint32_t k = 0; k < 2; k++)
				(void)!code_names_read(&names, (enum python_names)kind, k, name,
						       sizeof(name));
	}
}

static void record_questions(struct recorder *recorder, struct python_runtime *runtime, pid_t tid,
			     bool tasks)
{
	struct python_stack *stack = malloc(sizeof(*stack));
	struct python_thread_list threads;
	struct asyncio_task_list list;
	struct address_ranges locks;

	(void)recorder;
	fuzz_must(stack);
	fuzz_must(python_stack_read(runtime, tid, NULL, stack) == 0);
	fprintf(stderr, "%zu frames, ", stack->count);
	record_operands(runtime, stack);
	(void)python_stack_read_running(runtime, tid, stack);
	free(stack);
	(void)!gil_read_locks(runtime, &locks);
	fuzz_must(python_thread_list_read(runtime, &threads) == 0);
	fprintf(stderr, "%zu threads, ", threads.count);
	if (tasks && asyncio_task_list_read(runtime, &threads, &list) == 0) {
		fprintf(stderr, "%zu tasks, ", list.count);
		asyncio_task_list_deinit(&list);
	}
	python_thread_list_deinit(&threads);
}

/* The C stack of a thread that sleeps. */
static void record_stack(struct recorder *recorder, pid_t pid)
{
	static uint8_t bytes[IMAGE_STACK_BYTES];
	struct process_sleep state;
	struct memory_range range = { 0, bytes, sizeof(bytes), 0 };

	fuzz_must(procfs_read_sleep(pid, pid, &state) == 0);
	range.address = state.sp - STACK_RED_ZONE_BYTES;
	if (memory_read(&recorder->reader, range.address, bytes, sizeof(bytes)))
		return;
	put_name(recorder, IMAGE_SYMBOL, IMAGE_STACK);
	put(recorder, range.address, 8);
	put(recorder, sizeof(bytes), 4);
	record_piece(recorder, &range);
}

static void put_clock_piece(struct recorder *recorder, remote_addr address, size_t size,
			    const uint8_t *bytes, enum clock_piece_kind kind)
{
	static const uint8_t padding[8];

	for (size_t done = 0, part; done < size; done += part) {
		part = size - done < CLOCK_PAGE_BYTES ? size - done : CLOCK_PAGE_BYTES;
		put(recorder, address + done, 8);
		put(recorder, part, 4);
		put(recorder, kind, 4);
		fuzz_must(fwrite(bytes + done, 1, part, recorder->file) == part);
		fwrite(padding, 1, -part % 8, recorder->file);
	}
}

static remote_addr main_state(const struct python_runtime *runtime, pid_t pid)
{
	struct python_thread_list list;
	remote_addr state = 0;

	fuzz_must(python_thread_list_read(runtime, &list) == 0);
	for (size_t i = 0; i < list.count; i++)
		if (list.items[i].tid == pid)
			state = list.items[i].state;
	python_thread_list_deinit(&list);
	return state;
}

/* As the program in the kernel would have made it of the main thread. */
static void record_clock(struct recorder *recorder, const struct target *target, pid_t pid)
{
	struct clock_record head = {
		.time_ns = 1,
		.tid = (uint32_t)pid,
		.inner_tid = (uint32_t)pid,
		.cpu = 1,
		.flags = CLOCK_IN_KERNEL,
		.system_call = 7,
		.state = main_state(target->runtime, pid),
		.comm = "python3",
	};
	/* Addresses, and what the fuzz target makes names of. */
	static const uint8_t kernel[] = "\xf7\0\0\x81\xff\xff\xff\xff\xf9\0\0\x81\xff\xff\xff\xff"
					"do_sys_poll+0x1a/0x90 [ext4]";
	struct copied_thread *copied = calloc(1, sizeof(*copied));
	struct frame_places places;
	uint8_t stack[512];
	struct process_sleep asleep;
	long end;

	fuzz_must(copied && head.state && procfs_read_sleep(pid, pid, &asleep) == 0);
	frame_places_of(target->runtime, &places);
	copied->process = target->reader;
	copied_thread_take(copied, &places, head.state);
	put(recorder, 0, 2);
	fuzz_must(fwrite(&head, sizeof(head), 1, recorder->file) == 1);
	put_clock_piece(recorder, 0, sizeof(kernel), kernel, CLOCK_PIECE_KERNEL);
	for (size_t i = 0; i < copied->count; i++)
		put_clock_piece(recorder, copied->pieces[i].address, copied->pieces[i].size,
				copied->pieces[i].bytes, i ? CLOCK_PIECE_DATA : CLOCK_PIECE_STATE);
	if (!memory_read(&target->reader, asleep.sp, stack, sizeof(stack)))
		put_clock_piece(recorder, asleep.sp, sizeof(stack), stack, CLOCK_PIECE_STACK);
	copied_thread_deinit(copied);
	free(copied);
	end = ftell(recorder->file);
	fuzz_must(end > 2 && end - 2 <= UINT16_MAX && fseek(recorder->file, 0, SEEK_SET) == 0);
	put(recorder, (uint64_t)(end - 2), 2);
	fuzz_must(fseek(recorder->file, end, SEEK_SET) == 0);
}

static void record_runtime(const char *python, const char *path, const char *variant)
{
	bool tasks = !strcmp(variant, "tasks");
	struct recorder *recorder = calloc(1, sizeof(*recorder));
	struct python_runtime *runtime;
	struct live_target live;
	struct memory_reader reader;
	struct debug_info info;
	struct target target;
	struct error error;
	char line[64];

	fuzz_must(recorder);
	fuzz_must(live_target_start(&live, python, tasks ? tasks_script : plain_script));
	fuzz_must(live_target_line(&live, line, sizeof(line)));
	usleep(100000); /* for the thread to be asleep: only a seed depends on it */
	if (target_init(&target, live.pid, false, impersonator_create(), NULL, &error) != 0 ||
	    !target.runtime) {
		fprintf(stderr, "%s: not read\n", python);
		exit(1);
	}
	recorder->info = target.interpreter_info;
	recorder->reader = target.reader;
	recorder->with_dwarf = !strcmp(variant, "dwarf");
	recorder->file = fopen(path, "we");
	fuzz_must(recorder->file);
	if (!strcmp(variant, "clock"))
		record_clock(recorder, &target, live.pid);
	put(recorder, (uint64_t)live.pid, 4);
	if (!strcmp(variant, "hidden"))
		hide(recorder, python_runtime_version(target.runtime));
	if (!strcmp(variant, "stack"))
		record_stack(recorder, live.pid);
	info = (struct debug_info){ record_symbol, record_section, record_member, record_size,
				    recorder };
	reader = (struct memory_reader){ record_read, recorder };
	runtime = python_runtime_create(&info, &reader, &error);
	fuzz_must(runtime);
	if (!strcmp(variant, "later")) {
		put(recorder, IMAGE_LATER, 1);
		recorder->seen_count = 0;
	}
	record_questions(recorder, runtime, live.pid, tasks);
	fprintf(stderr, "%s: %ld bytes\n", path, ftell(recorder->file));
	fclose(recorder->file);
	python_runtime_destroy(runtime);
	target_deinit(&target);
	live_target_end(&live);
	free(recorder);
}

static FILE *open_in(const char *folder, const char *name)
{
	char path[PATH_MAX];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	file = fopen(path, "we");
	fuzz_must(file);
	return file;
}

static void record_profiles(const char *folder)
{
	const struct writer_options options = { 0 };
	struct profile sample = sample_profile();
	uint8_t *bytes;
	size_t size;
	FILE *file;

	fuzz_must(profile_encode(&sample, &bytes, &size) == 0);
	file = open_in(folder, "profile");
	fputc(0, file);
	fuzz_must(fwrite(bytes, 1, size, file) == size);
	fclose(file);
	file = open_in(folder, "two-profiles");
	fputc(3, file);
	fuzz_must(fwrite(&(uint16_t){ (uint16_t)size }, 1, 2, file) == 2);
	fuzz_must(fwrite(bytes, 1, size, file) == size);
	sample.lines = NULL;
	sample.line_count = 0;
	free(bytes);
	fuzz_must(profile_encode(&sample, &bytes, &size) == 0);
	fuzz_must(fwrite(bytes, 1, size, file) == size);
	fclose(file);
	free(bytes);
	sample = sample_profile();
	sample_add_stacks(&sample);
	fuzz_must(profile_encode(&sample, &bytes, &size) == 0);
	file = open_in(folder, "threads");
	fputc(0, file);
	fuzz_must(fwrite(bytes, 1, size, file) == size);
	fclose(file);
	free(bytes);
	sample.lines = NULL;
	sample.line_count = 0;
	for (int choice = 1; choice <= 2; choice++) {
		file = open_in(folder, choice == 1 ? "file" : "file-checksums-put-right");
		fputc(choice, file);
		fuzz_must(writer_recording.write(&sample, &options, file) == 0);
		fclose(file);
	}
}

/* One of each kind; what is not there to be imported is left out. */
static const char contents_script[] =
	"import array, collections, datetime, decimal, os, pathlib, re, sys\n"
	"class A(object):\n"
	"    def __init__(self, n): self.n, self.m = n, [1.5, {'k': n}]\n"
	"class S(object): __slots__ = ['s%d' % i for i in range(9)]\n"
	"class L(list): pass\n"
	"class I(int): pass\n"
	"class T(str): pass\n"
	"slots = S(); slots.s0 = slots.s8 = A(3); named = L([1]); named.x = 2; whole = I(9); "
	"whole.y = 3\n"
	"objects = [A(2000), slots, named, whole, T('abc'), {1, 'a'}, collections.deque([1, 2]),\n"
	"    array.array('d', [1, 2]), decimal.Decimal('1.25'), pathlib.Path('a/b'), "
	"re.compile('a+'),\n"
	"    datetime.datetime(2020, 1, 2, tzinfo=datetime.timezone.utc), memoryview(b'abc'),\n"
	"    collections.defaultdict(list, a=1), datetime.timedelta(3), slice(1, 2), {'a': "
	"1}.items()]\n"
	"try:\n"
	"    import site; site.main(); import numpy\n"
	"    objects += [numpy.arange(12.0).reshape(3, 4)[:, 1], numpy.array(['x', 1], object),\n"
	"        numpy.float32(1), numpy.zeros(2, 'M8[s]')]\n"
	"    import pandas; objects.append(pandas.DataFrame({'a': [1, 2], 'b': ['x', 'y']}))\n"
	"except Exception: pass\n"
	"os.write(1, (' '.join(str(id(o)) for o in objects) + '\\n').encode())\n"
	"sys.stdin.read()\n";

static void record_contents(const char *python, const char *path)
{
	static uint8_t pieces[1 << 20];
	struct live_target live;
	struct live_memory memory;
	struct memory_range *ranges;
	struct fingerprints *set;
	remote_addr objects[FINGERPRINT_OBJECTS_MAX];
	struct recorder *recorder = calloc(1, sizeof(*recorder));
	size_t count = 0, asked, used = 0, recorded = 0;
	int minor = 0, length;
	char line[1024], *at = line;
	const char *dot = strstr(path, "3.");

	fuzz_must(recorder && dot && sscanf(dot, "3.%d", &minor) == 1);
	fuzz_must(live_target_start(&live, python, contents_script));
	fuzz_must(live_target_line(&live, line, sizeof(line)));
	for (;
	     count < FINGERPRINT_OBJECTS_MAX && sscanf(at, "%lu%n", &objects[count], &length) == 1;
	     count++)
		at += length;
	memory.pid = live.pid;
	set = fingerprints_create(minor);
	fuzz_must(count && set);
	/* The second time types are known, and more is looked at. */
	for (unsigned turn = 0; turn < 3; turn++) {
		fingerprints_begin(set, objects, count, false);
		while ((asked = fingerprints_round(set, &ranges))) {
			fuzz_must(live_memory_read(&memory, ranges, asked) == 0);
			for (size_t i = 0; i < asked; i++) {
				size_t size = ranges[i].size;

				if (ranges[i].error || used + 10 + size > sizeof(pieces) ||
				    !note_piece(recorder, &ranges[i]))
					continue;
				memcpy(pieces + used, &ranges[i].address, 8);
				memcpy(pieces + used + 8, &size, 2);
				memcpy(pieces + used + 10, ranges[i].buffer, size);
				used += 10 + size;
				recorded++;
			}
		}
	}
	recorder->file = fopen(path, "we");
	fuzz_must(recorder->file);
	put(recorder, (uint64_t)(minor - 6), 1);
	put(recorder, count - 1, 1);
	put(recorder, recorded, 2);
	for (size_t i = 0; i < count; i++)
		put(recorder, objects[i], 8);
	fuzz_must(fwrite(pieces, 1, used, recorder->file) == used);
	fprintf(stderr, "%s: %ld bytes, %zu pieces\n", path, ftell(recorder->file), recorded);
	fclose(recorder->file);
	fingerprints_destroy(set);
	live_target_end(&live);
	free(recorder);
}

int main(int argc, char **argv)
{
	if (argc == 4 && !strcmp(argv[1], "contents")) {
		record_contents(argv[2], argv[3]);
		return 0;
	}
	if (argc >= 4 && !strcmp(argv[1], "runtime")) {
		record_runtime(argv[2], argv[3], argc > 4 ? argv[4] : "");
		return 0;
	}
	if (argc == 3 && !strcmp(argv[1], "profile")) {
		record_profiles(argv[2]);
		return 0;
	}
	fprintf(stderr,
		"usage: %s runtime PYTHON FILE [dwarf|tasks|later|hidden|stack|clock] | "
		"contents PYTHON FILE | profile FOLDER\n",
		argv[0]);
	return 2;
}
