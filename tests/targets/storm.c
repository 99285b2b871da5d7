/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Native calls that touch watched memory as often as they can.
 *
 * read_all() loads every word once, so that words are there to be watched; the
 * others then storm over them: one word stored to in a tight loop, rep movs,
 * rep stos over whole pages, and a call back into Python, so that the place
 * where a native call returns to is passed by ever deeper ones.
 */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#define WORDS 2048 /* four pages */

static volatile uint64_t *words;
static uint64_t *source;

static PyObject *read_all(PyObject *module, PyObject *rounds)
{
	unsigned long count = PyLong_AsUnsignedLong(rounds);
	uint64_t sum = 0;

	(void)module;
	Py_BEGIN_ALLOW_THREADS for (unsigned long round = 0; round < count;
				    round++) for (size_t i = 0; i < WORDS; i++) sum =
		sum * 31 + words[i];
	Py_END_ALLOW_THREADS return PyLong_FromUnsignedLongLong(sum);
}

/* Loads and stores of one word alone. */
static PyObject *add_word(PyObject *module, PyObject *count)
{
	unsigned long left = PyLong_AsUnsignedLong(count);

	(void)module;
	Py_BEGIN_ALLOW_THREADS while (left--) words[0] = words[0] + 1;
	Py_END_ALLOW_THREADS return PyLong_FromUnsignedLongLong(words[0]);
}

/* Nothing but stores, to words that were loaded before. */
static PyObject *store_word(PyObject *module, PyObject *count)
{
	unsigned long left = PyLong_AsUnsignedLong(count);

	(void)module;
	while (left--)
		for (size_t i = 0; i < WORDS; i += 256)
			words[i] = left;
	return PyLong_FromUnsignedLongLong(words[0]);
}

static PyObject *copy_all(PyObject *module, PyObject *count)
{
	unsigned long left = PyLong_AsUnsignedLong(count);

	(void)module;
	while (left--) {
		void *to = (void *)(uintptr_t)words;
		void *from = source;
		size_t size = WORDS * sizeof(*words);

		source[left % WORDS] = left;
		__asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(size) : : "memory");
	}
	return PyLong_FromUnsignedLongLong(words[WORDS - 1]);
}

static PyObject *fill_all(PyObject *module, PyObject *count)
{
	unsigned long left = PyLong_AsUnsignedLong(count);

	(void)module;
	while (left--) {
		void *to = (void *)(uintptr_t)words;
		size_t size = WORDS * sizeof(*words);

		__asm__ volatile("rep stosb" : "+D"(to), "+c"(size) : "a"((int)left) : "memory");
	}
	return PyLong_FromUnsignedLongLong(words[0]);
}

/* call_back(function, n): loads, then calls function(n - 1). */
static PyObject *call_back(PyObject *module, PyObject *arguments)
{
	PyObject *function;
	uint64_t sum = 0;
	long n;

	(void)module;
	if (!PyArg_ParseTuple(arguments, "Ol", &function, &n))
		return NULL;
	for (size_t i = 0; i < WORDS; i += 8)
		sum = sum * 31 + words[i];
	if (n <= 0)
		return PyLong_FromUnsignedLongLong(sum);
	return PyObject_CallFunction(function, "l", n - 1);
}

static PyMethodDef methods[] = {
	{ "read_all", read_all, METH_O, "Load every word, so often." },
	{ "add_word", add_word, METH_O, "Add 1 to the first word, so often." },
	{ "store_word", store_word, METH_O, "Store to a few words, so often." },
	{ "copy_all", copy_all, METH_O, "rep movs over all words, so often." },
	{ "fill_all", fill_all, METH_O, "rep stos over all words, so often." },
	{ "call_back", call_back, METH_VARARGS, "Load, then call function(n - 1)." },
	{ NULL, NULL, 0, NULL },
};

static struct PyModuleDef definition = {
	PyModuleDef_HEAD_INIT, "storm", NULL, -1, methods, NULL, NULL, NULL, NULL,
};

PyMODINIT_FUNC PyInit_storm(void)
{
	size_t size = WORDS * sizeof(*words);

	words = aligned_alloc(4096, size);
	source = calloc(WORDS, sizeof(*source));
	if (!words || !source)
		return PyErr_NoMemory();
	memset((void *)(uintptr_t)words, 0, size);
	return PyModule_Create(&definition);
}
