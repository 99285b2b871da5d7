// SPDX-License-Identifier: Apache-2.0
// A library in the manner of those that people bring over from their own
// instruments: rate_at() reads a chronometer's rate off its curve, through
// ctypes; Slide is the picture that a slide scanner has taken.

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

enum {
	MAX_SIDE = 4096,
	GRAINS = 40
};

// The curve through the points, each piece a cubic with the slopes of its
// neighbours (Catmull and Rom); x beyond the ends takes the end's value.
double rate_at(const double *xs, const double *ys, int count, double x)
{
	if (x <= xs[0]) {
		return ys[0];
	}
	if (x >= xs[count - 1]) {
		return ys[count - 1];
	}
	int at = 1;
	while (xs[at] < x) {
		at++;
	}
	int before = at > 1 ? at - 2 : 0;
	int after = at < count - 1 ? at + 1 : at;
	double width = xs[at] - xs[at - 1];
	double t = (x - xs[at - 1]) / width;
	double left = (ys[at] - ys[before]) / (xs[at] - xs[before]) * width;
	double right = (ys[after] - ys[at - 1]) / (xs[after] - xs[at - 1]) * width;
	double rise = ys[at] - ys[at - 1];
	return ys[at - 1] +
	       t * (left + t * (3 * rise - 2 * left - right + t * (left + right - 2 * rise)));
}

typedef struct {
	PyObject ob_base;
	int side;
	unsigned char *pixels;
} Slide;

static double chance(uint64_t *state)
{
	*state = *state * 6364136223846793005U + 1442695040888963407U;
	return (double)(*state >> 40) / (1 << 24);
}

// Grains of pollen, round and dark in their middles, on a noisy ground.
static void expose(Slide *slide, uint64_t state)
{
	int side = slide->side;
	for (int i = 0; i < side * side; i++) {
		slide->pixels[i] = (unsigned char)(20 * chance(&state));
	}
	for (int grain = 0; grain < GRAINS; grain++) {
		int size = 2 + (int)(side * 0.02 * chance(&state));
		int middle_x = (int)(side * chance(&state));
		int middle_y = (int)(side * chance(&state));
		int light = 110 + (int)(120 * chance(&state));
		for (int y = middle_y - size; y <= middle_y + size; y++) {
			for (int x = middle_x - size; x <= middle_x + size; x++) {
				int apart = (x - middle_x) * (x - middle_x) +
					    (y - middle_y) * (y - middle_y);
				if (x >= 0 && y >= 0 && x < side && y < side &&
				    apart <= size * size) {
					slide->pixels[y * side + x] =
						(unsigned char)(light -
								30 * apart / (size * size + 1));
				}
			}
		}
	}
}

static int slide_init(PyObject *self, PyObject *args, PyObject *words)
{
	(void)words;
	Slide *slide = (Slide *)self;
	unsigned long long seed;
	int side;
	if (!PyArg_ParseTuple(args, "Ki", &seed, &side)) {
		return -1;
	}
	if (slide->pixels || side < 8 || side > MAX_SIDE) {
		PyErr_SetString(PyExc_ValueError, "side out of range, or exposed twice");
		return -1;
	}
	slide->pixels = PyMem_Malloc((size_t)side * (size_t)side);
	if (!slide->pixels) {
		PyErr_NoMemory();
		return -1;
	}
	slide->side = side;
	expose(slide, seed * 2654435761U + 1);
	return 0;
}

static void slide_dealloc(PyObject *self)
{
	PyMem_Free(((Slide *)self)->pixels);
	Py_TYPE(self)->tp_free(self);
}

static PyObject *slide_pixel(PyObject *self, PyObject *args)
{
	Slide *slide = (Slide *)self;
	int x;
	int y;
	if (!PyArg_ParseTuple(args, "ii", &x, &y)) {
		return NULL;
	}
	if (x < 0 || y < 0 || x >= slide->side || y >= slide->side) {
		PyErr_SetString(PyExc_IndexError, "pixel out of range");
		return NULL;
	}
	return PyLong_FromLong(slide->pixels[y * slide->side + x]);
}

static PyObject *slide_row(PyObject *self, PyObject *arg)
{
	Slide *slide = (Slide *)self;
	long y = PyLong_AsLong(arg);
	if (PyErr_Occurred()) {
		return NULL;
	}
	if (y < 0 || y >= slide->side) {
		PyErr_SetString(PyExc_IndexError, "row out of range");
		return NULL;
	}
	return PyBytes_FromStringAndSize((char *)slide->pixels + y * slide->side, slide->side);
}

static PyMethodDef slide_methods[] = {
	{ "pixel", slide_pixel, METH_VARARGS, "pixel(x, y) -> int" },
	{ "row", slide_row, METH_O, "row(y) -> bytes" },
	{ NULL, NULL, 0, NULL },
};

static PyTypeObject slide_type = {
	PyVarObject_HEAD_INIT(NULL, 0).tp_name = "fieldkit.Slide",
	.tp_basicsize = sizeof(Slide),
	.tp_flags = Py_TPFLAGS_DEFAULT,
	.tp_new = PyType_GenericNew,
	.tp_init = slide_init,
	.tp_dealloc = slide_dealloc,
	.tp_methods = slide_methods,
};

static struct PyModuleDef module = {
	PyModuleDef_HEAD_INIT, "fieldkit", NULL, -1, NULL, NULL, NULL, NULL, NULL
};

PyMODINIT_FUNC PyInit_fieldkit(void)
{
	if (PyType_Ready(&slide_type) < 0) {
		return NULL;
	}
	PyObject *made = PyModule_Create(&module);
	if (made && PyModule_AddObjectRef(made, "Slide", (PyObject *)&slide_type) < 0) {
		Py_DECREF(made);
		return NULL;
	}
	return made;
}
