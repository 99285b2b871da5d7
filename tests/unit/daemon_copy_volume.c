/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is copied: this process's own copies, met by a timer's signal, whose registers are those of
 * a sample; what a sample is charged with; rates.
 */
#include "daemon/sample/copy_volume.h"

#include "common/clock.h"
#include "tests/unit/module_fixture.h"
#include "tests/unit/under_valgrind.h"

#include <dlfcn.h>
#include <signal.h>
#include <stddef.h>
#include <sys/time.h>
#include <ucontext.h>

#define SAMPLES 40
#define TICK_US 2000
#define LARGE   (8u << 20)

static struct target target;
static struct address_ranges code;
static volatile sig_atomic_t samples;
static uint64_t sizes[SAMPLES];

static struct registers registers_of(const ucontext_t *context)
{
	const greg_t *machine = context->uc_mcontext.gregs;
	struct registers registers = { .rip = (remote_addr)machine[REG_RIP] };

	registers.general[REGISTER_RAX] = (uint64_t)machine[REG_RAX];
	registers.general[REGISTER_RCX] = (uint64_t)machine[REG_RCX];
	registers.general[REGISTER_RDX] = (uint64_t)machine[REG_RDX];
	registers.general[REGISTER_RSI] = (uint64_t)machine[REG_RSI];
	registers.general[REGISTER_RDI] = (uint64_t)machine[REG_RDI];
	return registers;
}

static void on_tick(int number, siginfo_t *info, void *context)
{
	struct registers registers = registers_of(context);

	(void)number;
	(void)info;
	if (samples < SAMPLES && address_ranges_contain(&code, registers.rip)) {
		sizes[samples] = copy_routine_size(&target, &registers);
		samples++;
	}
}

/* Of this process, whose C library has that kind. */
static int open_self(void **state)
{
	static struct memory_reader reader;
	struct mapping_list mappings;
	struct fixture *fixture;
	size_t count;

	if (setup(state))
		return -1;
	fixture = *state;
	self_read_maps(&mappings);
	if (module_table_update(fixture->table, &mappings))
		return -1;
	mapping_list_deinit(&mappings);
	reader = fixture->reader;
	count = module_table_count(fixture->table);
	target = (struct target){
		.modules = fixture->table,
		.reader = reader,
		.code = reader,
		.unwinder = unwinder_create(fixture->table, &reader),
		.module_kinds = calloc(count, sizeof(*target.module_kinds)),
		.module_kind_count = count,
	};
	if (!target.unwinder || !target.module_kinds)
		return -1;
	for (size_t i = 0; i < count; i++)
		if (!strncmp(module_table_get(fixture->table, i)->name, "libc.so", 7))
			target.module_kinds[i] = MODULE_LIBC;
	return copy_routine_find(&target, &code) ? 0 : -1;
}

static int close_self(void **state)
{
	unwinder_destroy(target.unwinder);
	free(target.module_kinds);
	return teardown(state);
}

static void test_routines(void **state)
{
	static const char *const names[] = { "memcpy", "memmove", "mempcpy" };
	/* Its own, whatever else defines them. */
	void *library = dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD);

	(void)state;
	assert_non_null(library);
	for (size_t i = 0; i < 3; i++) {
		void *chosen = dlsym(library, names[i]);

		assert_true(address_ranges_contain(&code, (remote_addr)(uintptr_t)chosen));
	}
	assert_false(
		address_ranges_contain(&code, (remote_addr)(uintptr_t)dlsym(library, "strlen")));
	dlclose(library);
}

/* Copies of one size, until as many samples have met them as are wanted, or 20 s of them. */
static void copy_until_sampled(size_t size)
{
	void *(*volatile copy)(void *, const void *, size_t) = memcpy;
	struct sigaction action = { .sa_sigaction = on_tick, .sa_flags = SA_SIGINFO | SA_RESTART };
	struct itimerval every = { { 0, TICK_US }, { 0, TICK_US } }, never = { 0 };
	char *from = malloc(size), *to = malloc(size);
	uint64_t end_ns = clock_thread_cpu_ns() + 20 * NS_PER_SECOND;

	assert_non_null(from);
	assert_non_null(to);
	memset(from, 1, size);
	memset(to, 2, size);
	samples = 0;
	assert_int_equal(sigaction(SIGPROF, &action, NULL), 0);
	assert_int_equal(setitimer(ITIMER_PROF, &every, NULL), 0);
	while (samples < SAMPLES && clock_thread_cpu_ns() < end_ns)
		for (size_t i = 0; i < 1 + LARGE / size; i++)
			copy(to, from, size);
	assert_int_equal(setitimer(ITIMER_PROF, &never, NULL), 0);
	free(from);
	free(to);
	assert_int_equal(samples, SAMPLES);
}

/* Never much more than it is, and mostly a good part of it. */
static void check_sizes(size_t size)
{
	unsigned most = 0;

	copy_until_sampled(size);
	for (unsigned i = 0; i < SAMPLES; i++) {
		assert_true(sizes[i] <= size + 4096);
		most += sizes[i] >= size / 4;
	}
	assert_in_range(most, SAMPLES / 2, SAMPLES);
}

static void test_sizes(void **state)
{
	(void)state;
	/* Which has copying of its own, in code that it makes. */
	if (under_valgrind())
		skip();
	check_sizes(300);
	check_sizes(4000);
	check_sizes(100000);
	check_sizes(LARGE);
	check_sizes(64u << 20);
}

/* Registers may hold anything. */
static void test_any_registers(void **state)
{
	static const uint64_t values[] = { 0,          1,          4096,      1ull << 39,
					   1ull << 40, 1ull << 63, UINT64_MAX };
	enum {
		VALUES = sizeof(values) / sizeof(values[0])
	};

	(void)state;
	for (unsigned i = 0; i < VALUES * VALUES * VALUES * VALUES; i++) {
		struct registers registers = { .rip = values[i % VALUES] };

		registers.general[REGISTER_RAX] = values[i % VALUES];
		registers.general[REGISTER_RDI] = values[i / VALUES % VALUES];
		registers.general[REGISTER_RDX] = values[i / VALUES / VALUES % VALUES];
		registers.general[REGISTER_RCX] = values[i / VALUES / VALUES / VALUES];
		assert_true(copy_routine_size(&target, &registers) < 1ull << 41);
	}
}

static void test_charges(void **state)
{
	struct copy_rates rates = { { { 1, 2 }, { 3, 4 }, { 5, 6 } } };
	struct copy_volume copies = { .code = code, .rates = &rates };
	struct registers registers = { .rip = code.items[0].start };
	struct side_time node = { 0 }, thread = { 0 };

	(void)state;
	registers.general[REGISTER_RAX] = registers.general[REGISTER_RDI] = 0x7f0000000000;
	registers.general[REGISTER_RDX] = 300;
	copy_volume_charge(&copies, &target, &registers, 1000, &node, &thread);
	copy_volume_charge(&copies, &target, &registers, 100, NULL, &thread);
	assert_int_equal(node.copying_ns, 1000);
	assert_int_equal(node.copied_low_bytes, 3000);
	assert_int_equal(node.copied_high_bytes, 4000);
	assert_int_equal(thread.copying_ns, 1100);
	registers.rip = code.items[0].end;
	copy_volume_charge(
		&(struct copy_volume){ .code = { .items = { code.items[0] }, .count = 1 },
				       .rates = &rates },
		&target, &registers, 1000, &node, NULL);
	copies.rates = NULL;
	assert_false(copy_volume_known(&copies));
	registers.rip = code.items[0].start;
	copy_volume_charge(&copies, &target, &registers, 1000, &node, NULL);
	assert_int_equal(node.copying_ns, 1000);
}

static void test_rates(void **state)
{
	struct copy_rates rates;

	(void)state;
	assert_true(copy_rates_measure(&rates));
	for (unsigned i = 0; i < COPY_RATE_SIZES; i++) {
		/* Bytes a nanosecond: no machine is slower, or faster. */
		assert_true(rates.items[i].low > 0.01 && rates.items[i].high < 10000);
		assert_true(rates.items[i].low <= rates.items[i].high);
	}
	for (unsigned i = 0; i < COPY_RATE_SIZES; i++)
		rates.items[i].low = i;
	assert_true(copy_rates_of(&rates, 0).low == 0 && copy_rates_of(&rates, 255).low == 0);
	assert_true(copy_rates_of(&rates, 256).low == 1 && copy_rates_of(&rates, 1023).low == 1);
	assert_true(copy_rates_of(&rates, 4u << 20).low == COPY_RATE_SIZES - 1);
	assert_true(copy_rates_of(&rates, UINT64_MAX).low == COPY_RATE_SIZES - 1);
	assert_ptr_equal(copy_rates_own(), copy_rates_own());
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_routines),      cmocka_unit_test(test_sizes),
		cmocka_unit_test(test_any_registers), cmocka_unit_test(test_charges),
		cmocka_unit_test(test_rates),
	};

	return cmocka_run_group_tests(tests, open_self, close_self);
}
