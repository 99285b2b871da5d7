/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A C extension whose share of redundant accesses can be set.
 *
 * There is one array. read_all() loads each of its words once; change() stores
 * a new value into the words that the dial leaves to change, and loads none of
 * them; write_all() stores every word, the same value as before into those that the
 * dial keeps. So of the loads by read_all(), each word's next one finds the
 * value unchanged with exactly the dial's share, and likewise for stores.
 */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#define WORDS 4096

static volatile uint64_t *words;

/* Changes with index and round, and is not the same for any two rounds that follow. */
static uint64_t mixed(uint64_t index, uint64_t round)
{
	uint64_t value = index * 0x9e3779b97f4a7c15ull + round * 0xbf58476d1ce4e5b9ull;

	value = (value ^ value >> 30) * 0xbf58476d1ce4e5b9ull;
	return (value ^ value >> 27) * 0x94d049bb133111ebull;
}

static int is_kept(uint64_t index, uint64_t round, unsigned percent)
{
	return (mixed(index ^ 0x5555, round) >> 32) % 100 < percent;
}

static PyObject *read_all(PyObject *module, PyObject *arguments)
{
	uint64_t sum = 0;

	(void)module;
	(void)arguments;
	for (size_t i = 0; i < WORDS; i++)
		sum += mixed(mixed(words[i], i), sum);
	return PyLong_FromUnsignedLongLong(sum);
}

static PyObject *change(PyObject *module, PyObject *arguments)
{
	unsigned long long round;
	unsigned percent;

	(void)module;
	if (!PyArg_ParseTuple(arguments, "KI", &round, &percent))
		return NULL;
	for (size_t i = 0; i < WORDS; i++)
		if (!is_kept(i, round, percent))
			words[i] = mixed(i, round);
	Py_RETURN_NONE;
}

static PyObject *write_all(PyObject *module, PyObject *arguments)
{
	unsigned long long round;
	unsigned percent;

	(void)module;
	if (!PyArg_ParseTuple(arguments, "KI", &round, &percent))
		return NULL;
	for (size_t i = 0; i < WORDS; i++) {
		/* The last round in which the word changed tells what is there now. */
		uint64_t last = percent < 100 ? round : 0;

		while (last > 0 && is_kept(i, last, percent))
			last--;
		words[i] = mixed(i, last);
	}
	Py_RETURN_NONE;
}

static PyMethodDef methods[] = {
	{ "read_all", read_all, METH_NOARGS, "Load every word." },
	{ "change", change, METH_VARARGS, "Store new values: change(round, percent kept)." },
	{ "write_all", write_all, METH_VARARGS,
	  "Store every word: write_all(round, percent kept)." },
	{ NULL, NULL, 0, NULL },
};

static struct PyModuleDef definition = {
	PyModuleDef_HEAD_INIT, "dial", NULL, -1, methods, NULL, NULL, NULL, NULL,
};

PyMODINIT_FUNC PyInit_dial(void)
{
	words = calloc(WORDS, sizeof(*words));
	if (!words)
		return PyErr_NoMemory();
	return PyModule_Create(&definition);
}
