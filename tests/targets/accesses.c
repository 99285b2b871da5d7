/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Native calls whose accesses are redundant in part, each access with the same
 * work around it, so that the share of the time spent at some is their share of
 * all. Nobody says here what the truth is: tests/tools/oracle.c finds it out.
 *
 *   load_words, load_again    all words, one after the other: the second finds
 *                             all as the first left them
 *   load_halves               the lower four bytes of each word: overlaps
 *   change_words              stores all words, some of them with another value
 *   store_words, store_wide   the same of another array; 16 bytes at a time
 *   add_words                 a read-modify-write each, of 0 to most
 */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <emmintrin.h>
#include <signal.h>

#define WORDS 128

/* Beside each other in memory of their own: nothing else is there. */
static struct {
	volatile uint64_t loaded[WORDS];
	volatile uint64_t stored[WORDS];
	volatile uint64_t added[WORDS];
} * memory;

static uint64_t mixed(uint64_t index, uint64_t round)
{
	uint64_t value = index * 0x9e3779b97f4a7c15ull + round * 0xbf58476d1ce4e5b9ull;

	value = (value ^ value >> 30) * 0xbf58476d1ce4e5b9ull;
	return (value ^ value >> 27) * 0x94d049bb133111ebull;
}

static PyObject *load_words(PyObject *module, PyObject *round)
{
	uint64_t sum = 0;

	(void)module;
	(void)round;
	for (size_t i = 0; i < WORDS; i++)
		sum += mixed(memory->loaded[i], sum);
	return PyLong_FromUnsignedLongLong(sum);
}

static PyObject *load_again(PyObject *module, PyObject *round)
{
	uint64_t sum = 1;

	(void)module;
	(void)round;
	for (size_t i = WORDS; i-- > 0;)
		sum += mixed(memory->loaded[i], sum);
	return PyLong_FromUnsignedLongLong(sum);
}

static PyObject *load_halves(PyObject *module, PyObject *round)
{
	const volatile uint32_t *halves = (const volatile uint32_t *)memory->loaded;
	uint64_t sum = 0;

	(void)module;
	(void)round;
	for (size_t i = 0; i < WORDS; i++)
		sum += mixed(halves[2 * i], sum);
	return PyLong_FromUnsignedLongLong(sum);
}

/* Changes from one round to the next in so many of ten words; the same work for each. */
static uint64_t slow_value(uint64_t index, uint64_t round, uint64_t of_ten)
{
	return mixed(index, (round * of_ten + index % 10) / 10);
}

/* All of them; the upper halves change more often than the lower ones. */
static PyObject *change_words(PyObject *module, PyObject *round)
{
	uint64_t number = PyLong_AsUnsignedLongLong(round);

	(void)module;
	for (size_t i = 0; i < WORDS; i++)
		memory->loaded[i] =
			(slow_value(i, number, 5) << 32) | (slow_value(i, number, 2) & UINT32_MAX);
	return PyLong_FromUnsignedLongLong(number);
}

static PyObject *store_words(PyObject *module, PyObject *round)
{
	uint64_t number = PyLong_AsUnsignedLongLong(round);

	(void)module;
	for (size_t i = 0; i < WORDS; i++)
		memory->stored[i] = slow_value(i / 2, number, 3) + i % 2;
	return PyLong_FromUnsignedLongLong(number);
}

static PyObject *store_wide(PyObject *module, PyObject *round)
{
	uint64_t number = PyLong_AsUnsignedLongLong(round);

	(void)module;
	for (size_t i = 0; i < WORDS; i += 2) {
		uint64_t value = slow_value(i / 2, number, 3);
		__m128i pair = _mm_set_epi64x((long long)(value + 1), (long long)value);

		_mm_store_si128((__m128i *)(uintptr_t)&memory->stored[i], pair);
	}
	return PyLong_FromUnsignedLongLong(number);
}

static PyObject *add_words(PyObject *module, PyObject *round)
{
	uint64_t number = PyLong_AsUnsignedLongLong(round);

	(void)module;
	for (size_t i = 0; i < WORDS; i++) {
		uint64_t more = mixed(i, number) >> 32;

		/* 0 in 6 of 10. */
		more *= more % 10 >= 6;
		__asm__ volatile("addq %1, %0" : "+m"(memory->added[i]) : "r"(more) : "cc");
	}
	return PyLong_FromUnsignedLongLong(number);
}

/* Tells whoever steps us that it begins, or nears its end, or ends. */
static PyObject *mark(PyObject *module, PyObject *end)
{
	(void)module;
	raise(PyLong_AsLong(end) ? SIGUSR2 : SIGUSR1);
	return PyLong_FromLong(0);
}

static PyMethodDef methods[] = {
	{ "load_words", load_words, METH_O, "Load every word." },
	{ "load_again", load_again, METH_O, "Load every word, backwards." },
	{ "load_halves", load_halves, METH_O, "Load four bytes of every word." },
	{ "change_words", change_words, METH_O, "Change some: change_words(round)." },
	{ "store_words", store_words, METH_O, "Store every word: store_words(round)." },
	{ "store_wide", store_wide, METH_O, "Store every word, two at a time." },
	{ "add_words", add_words, METH_O, "Add to every word: add_words(round)." },
	{ "mark", mark, METH_O, "Signal the beginning, or the last round (0), or the end (1)." },
	{ NULL, NULL, 0, NULL },
};

static struct PyModuleDef definition = {
	PyModuleDef_HEAD_INIT, "accesses", NULL, -1, methods, NULL, NULL, NULL, NULL,
};

PyMODINIT_FUNC PyInit_accesses(void)
{
	memory = aligned_alloc(4096, (sizeof(*memory) + 4095) / 4096 * 4096);
	if (!memory)
		return PyErr_NoMemory();
	memset(memory, 0, sizeof(*memory));
	return PyModule_Create(&definition);
}
