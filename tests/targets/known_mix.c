/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Native work of set length, which says itself how much CPU time it took.
 *
 * spin(part, rounds) computes, read_zeros(part, bytes) spends its time in the
 * kernel. Each adds what the thread's own clock says to its part; measured()
 * tells. spin_unmeasured() leaves the clock alone, for calls so short that
 * reading it would be most of them.
 */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <fcntl.h>
#include <time.h>
#include <unistd.h>

#define PARTS 16

static unsigned long long part_ns[PARTS];
static char buffer[1 << 20];
static int zeros = -1;

static unsigned long long thread_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (unsigned long long)now.tv_sec * 1000000000ull + (unsigned long long)now.tv_nsec;
}

/* One multiplication waits for the other: nothing to be done side by side. */
static unsigned long long work(unsigned long rounds)
{
	volatile unsigned long long start = 88172645463325252ull;
	unsigned long long value = start;

	for (unsigned long i = 0; i < rounds; i++)
		value = value * 6364136223846793005ull + 1442695040888963407ull;
	return value;
}

static PyObject *spin(PyObject *module, PyObject *arguments)
{
	unsigned long rounds;
	unsigned part;
	unsigned long long began, value;

	(void)module;
	if (!PyArg_ParseTuple(arguments, "Ik", &part, &rounds))
		return NULL;
	began = thread_ns();
	value = work(rounds);
	part_ns[part % PARTS] += thread_ns() - began;
	return PyLong_FromUnsignedLongLong(value);
}

static PyObject *spin_unmeasured(PyObject *module, PyObject *rounds)
{
	(void)module;
	return PyLong_FromUnsignedLongLong(work(PyLong_AsUnsignedLong(rounds)));
}

static PyObject *read_zeros(PyObject *module, PyObject *arguments)
{
	unsigned long rounds;
	unsigned part;
	unsigned long long began;

	(void)module;
	if (!PyArg_ParseTuple(arguments, "Ik", &part, &rounds))
		return NULL;
	began = thread_ns();
	for (unsigned long i = 0; i < rounds; i++)
		if (read(zeros, buffer, sizeof(buffer)) != sizeof(buffer))
			return PyErr_SetFromErrno(PyExc_OSError);
	part_ns[part % PARTS] += thread_ns() - began;
	Py_RETURN_NONE;
}

static PyObject *measured(PyObject *module, PyObject *part)
{
	(void)module;
	return PyLong_FromUnsignedLongLong(part_ns[PyLong_AsUnsignedLong(part) % PARTS]);
}

static PyMethodDef methods[] = {
	{ "spin", spin, METH_VARARGS, "Compute: spin(part, rounds)." },
	{ "spin_unmeasured", spin_unmeasured, METH_O, "Compute: spin_unmeasured(rounds)." },
	{ "read_zeros", read_zeros, METH_VARARGS,
	  "Read a megabyte each: read_zeros(part, rounds)." },
	{ "measured", measured, METH_O, "Nanoseconds of CPU time: measured(part)." },
	{ NULL, NULL, 0, NULL },
};

static struct PyModuleDef definition = {
	PyModuleDef_HEAD_INIT, "known_mix", NULL, -1, methods, NULL, NULL, NULL, NULL,
};

PyMODINIT_FUNC PyInit_known_mix(void)
{
	zeros = open("/dev/zero", O_RDONLY | O_CLOEXEC);
	if (zeros < 0)
		return PyErr_SetFromErrno(PyExc_OSError);
	return PyModule_Create(&definition);
}
