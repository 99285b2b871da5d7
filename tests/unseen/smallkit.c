// SPDX-License-Identifier: Apache-2.0
// An extension module in the manner of those that people write for their own
// devices: glyph() draws a stroke letter, Climate simulates a greenhouse.

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

enum {
	MAX_SIZE = 48,
	STROKES = 5
};

static double to_stroke(double x, double y, const double *s)
{
	double dx = s[2] - s[0];
	double dy = s[3] - s[1];
	double length = dx * dx + dy * dy + 1e-9;
	double t = ((x - s[0]) * dx + (y - s[1]) * dy) / length;
	t = t < 0 ? 0 : t > 1 ? 1 : t;
	return hypot(x - s[0] - t * dx, y - s[1] - t * dy);
}

// One byte a pixel, how much of it the letter's strokes cover.
static PyObject *glyph(PyObject *self, PyObject *args)
{
	(void)self;
	int code;
	int size;
	double weight;
	if (!PyArg_ParseTuple(args, "Cid", &code, &size, &weight)) {
		return NULL;
	}
	if (size < 1 || size > MAX_SIZE) {
		PyErr_SetString(PyExc_ValueError, "size out of range");
		return NULL;
	}
	double strokes[STROKES][4];
	uint32_t state = (uint32_t)code * 2654435761U;
	for (int i = 0; i < STROKES; i++) {
		for (int k = 0; k < 4; k++) {
			state = state * 1664525U + 1013904223U;
			strokes[i][k] = (state >> 28) / 15.0;
		}
	}
	PyObject *result = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)size * size);
	if (!result) {
		return NULL;
	}
	unsigned char *out = (unsigned char *)PyBytes_AS_STRING(result);
	for (int y = 0; y < size; y++) {
		for (int x = 0; x < size; x++) {
			double near = 9;
			for (int i = 0; i < STROKES; i++) {
				double d =
					to_stroke((x + 0.5) / size, (y + 0.5) / size, strokes[i]);
				near = d < near ? d : near;
			}
			double ink = 1 / (1 + exp((near - weight) * size * 2));
			out[y * size + x] = (unsigned char)(255 * ink);
		}
	}
	return result;
}

typedef struct {
	PyObject ob_base;
	uint64_t state;
	double air;
	double soil;
	double damp;
	double minute;
	double vent;
	double heat;
} Climate;

static double noise(Climate *c)
{
	double sum = 0;
	for (int i = 0; i < 12; i++) {
		c->state = c->state * 6364136223846793005U + 1442695040888963407U;
		sum += (double)(c->state >> 40) / (1 << 24) - 0.5;
	}
	return sum;
}

static int climate_init(PyObject *self, PyObject *args, PyObject *words)
{
	(void)words;
	Climate *c = (Climate *)self;
	unsigned long long seed;
	if (!PyArg_ParseTuple(args, "K", &seed)) {
		return -1;
	}
	c->state = seed * 2654435761U + 1;
	c->air = 18;
	c->soil = 16;
	c->damp = 0.6;
	c->minute = 360;
	c->vent = 0;
	c->heat = 0;
	return 0;
}

static PyObject *climate_advance(PyObject *self, PyObject *arg)
{
	Climate *c = (Climate *)self;
	double seconds = PyFloat_AsDouble(arg);
	if (PyErr_Occurred()) {
		return NULL;
	}
	for (int i = 0; i < 30; i++) {
		double h = seconds / 1800;
		double sun = fmax(0, sin((c->minute - 360) / 1440 * 6.283185307179586));
		double outside = 8 + 9 * sun;
		c->air +=
			h * (14 * sun + c->heat * 9 - (c->air - outside) * (0.6 + 2.5 * c->vent)) +
			0.004 * noise(c);
		c->soil += h * 0.15 * (c->air - c->soil);
		c->damp += h * (0.12 * (1 - c->damp) - 0.3 * c->vent * c->damp) + 0.0005 * noise(c);
		c->minute = fmod(c->minute + seconds / 1800, 1440);
	}
	Py_RETURN_NONE;
}

static PyObject *climate_set(PyObject *self, PyObject *args)
{
	Climate *c = (Climate *)self;
	if (!PyArg_ParseTuple(args, "dd", &c->vent, &c->heat)) {
		return NULL;
	}
	Py_RETURN_NONE;
}

static PyObject *climate_air(PyObject *self, PyObject *unused)
{
	(void)unused;
	return PyFloat_FromDouble(((Climate *)self)->air + 0.05 * noise((Climate *)self));
}

static PyObject *climate_soil(PyObject *self, PyObject *unused)
{
	(void)unused;
	return PyFloat_FromDouble(((Climate *)self)->soil + 0.02 * noise((Climate *)self));
}

static PyObject *climate_damp(PyObject *self, PyObject *unused)
{
	(void)unused;
	return PyFloat_FromDouble(((Climate *)self)->damp);
}

static PyMethodDef climate_methods[] = {
	{ "advance", climate_advance, METH_O, "advance(seconds)" },
	{ "set", climate_set, METH_VARARGS, "set(vent, heat)" },
	{ "air", climate_air, METH_NOARGS, "air() -> float" },
	{ "soil", climate_soil, METH_NOARGS, "soil() -> float" },
	{ "damp", climate_damp, METH_NOARGS, "damp() -> float" },
	{ NULL, NULL, 0, NULL },
};

static PyTypeObject climate_type = {
	PyVarObject_HEAD_INIT(NULL, 0).tp_name = "smallkit.Climate",
	.tp_basicsize = sizeof(Climate),
	.tp_flags = Py_TPFLAGS_DEFAULT,
	.tp_new = PyType_GenericNew,
	.tp_init = climate_init,
	.tp_methods = climate_methods,
};

static PyMethodDef methods[] = {
	{ "glyph", glyph, METH_VARARGS, "glyph(letter, size, weight) -> bytes" },
	{ NULL, NULL, 0, NULL },
};

static struct PyModuleDef module = {
	PyModuleDef_HEAD_INIT, "smallkit", NULL, -1, methods, NULL, NULL, NULL, NULL
};

PyMODINIT_FUNC PyInit_smallkit(void)
{
	if (PyType_Ready(&climate_type) < 0) {
		return NULL;
	}
	PyObject *made = PyModule_Create(&module);
	if (made && PyModule_AddObjectRef(made, "Climate", (PyObject *)&climate_type) < 0) {
		Py_DECREF(made);
		return NULL;
	}
	return made;
}
