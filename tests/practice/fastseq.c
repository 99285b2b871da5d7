// SPDX-License-Identifier: Apache-2.0
// A small native library in the manner of those that people write for their
// own sequences and devices: an extension module (hairpin_pairs, best_hit) and
// plain functions for ctypes (ring_*).

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdint.h>
#include <stdlib.h>

enum {
	MAX_PRIMER = 64,
	MIN_LOOP = 3
};

static int pairs(char a, char b)
{
	return (a == 'A' && b == 'T') || (a == 'T' && b == 'A') || (a == 'G' && b == 'C') ||
	       (a == 'C' && b == 'G');
}

// The most base pairs that the sequence can form with itself (Nussinov).
static PyObject *hairpin_pairs(PyObject *self, PyObject *args)
{
	(void)self;
	const char *seq;
	Py_ssize_t n;
	if (!PyArg_ParseTuple(args, "s#", &seq, &n)) {
		return NULL;
	}
	if (n > MAX_PRIMER) {
		PyErr_SetString(PyExc_ValueError, "primer too long");
		return NULL;
	}
	static int best[MAX_PRIMER + 1][MAX_PRIMER + 1];
	for (Py_ssize_t i = 0; i <= n; i++) {
		for (Py_ssize_t j = 0; j <= n; j++) {
			best[i][j] = 0;
		}
	}
	for (Py_ssize_t span = MIN_LOOP + 1; span < n; span++) {
		for (Py_ssize_t i = 0; i + span < n; i++) {
			Py_ssize_t j = i + span;
			int top = best[i + 1][j];
			for (Py_ssize_t k = i + MIN_LOOP + 1; k <= j; k++) {
				if (pairs(seq[i], seq[k])) {
					int here = 1 + best[i + 1][k - 1] +
						   (k < j ? best[k + 1][j] : 0);
					if (here > top) {
						top = here;
					}
				}
			}
			best[i][j] = top;
		}
	}
	return PyLong_FromLong(n ? best[0][n - 1] : 0);
}

// The offset in the read where the primer has the fewest mismatches, and how many.
static PyObject *best_hit(PyObject *self, PyObject *args)
{
	(void)self;
	const char *read;
	const char *primer;
	Py_ssize_t read_len;
	Py_ssize_t primer_len;
	if (!PyArg_ParseTuple(args, "s#s#", &read, &read_len, &primer, &primer_len)) {
		return NULL;
	}
	Py_ssize_t where = -1;
	Py_ssize_t fewest = primer_len + 1;
	for (Py_ssize_t i = 0; i + primer_len <= read_len; i++) {
		Py_ssize_t wrong = 0;
		for (Py_ssize_t k = 0; k < primer_len; k++) {
			wrong += read[i + k] != primer[k];
		}
		if (wrong < fewest) {
			fewest = wrong;
			where = i;
		}
	}
	return Py_BuildValue("nn", where, fewest);
}

static PyMethodDef methods[] = {
	{ "hairpin_pairs", hairpin_pairs, METH_VARARGS, "hairpin_pairs(primer) -> int" },
	{ "best_hit", best_hit, METH_VARARGS, "best_hit(read, primer) -> (offset, mismatches)" },
	{ NULL, NULL, 0, NULL },
};

static struct PyModuleDef module = {
	PyModuleDef_HEAD_INIT, "fastseq", NULL, -1, methods, NULL, NULL, NULL, NULL
};

PyMODINIT_FUNC PyInit_fastseq(void)
{
	return PyModule_Create(&module);
}

// A ring of readings, as a driver would hold it.
struct ring {
	uint64_t state;
	size_t head;
	size_t tail;
	double values[256];
};

struct ring *ring_new(uint64_t seed)
{
	struct ring *r = calloc(1, sizeof *r);
	if (r) {
		r->state = seed * 2654435761U + 1;
	}
	return r;
}

void ring_free(struct ring *r)
{
	free(r);
}

// Takes in `count` new readings from the device; each is a jittered tone.
void ring_poll(struct ring *r, int count)
{
	for (int i = 0; i < count; i++) {
		double noise = 0;
		for (int k = 0; k < 24; k++) {
			r->state = r->state * 6364136223846793005U + 1442695040888963407U;
			noise += (double)(r->state >> 40) / (1 << 24) - 0.5;
		}
		r->values[r->head++ % 256] = noise;
	}
}

// The oldest reading that was not yet taken.
double ring_pop(struct ring *r)
{
	return r->tail < r->head ? r->values[r->tail++ % 256] : 0.0;
}
