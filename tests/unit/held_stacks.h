/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Live interpreters with one thread a way in which Python and C call each
 * other, each held in a stack that it has printed from inside.
 */
#ifndef PIEPROFD_TESTS_UNIT_HELD_STACKS_H
#define PIEPROFD_TESTS_UNIT_HELD_STACKS_H

#include "pyintrospect/python_stack.h"

#include "pyintrospect/runtime.h"
#include "pyintrospect/runtime_internal.h"
#include "tests/unit/support_live.h"

#include <setjmp.h>
#include <stdarg.h>
#include <sys/syscall.h>

#include <cmocka.h>

/*
 * Every case runs in a thread of its own and ends in hold(), which prints the
 * stack it is in and then blocks in read(2) on the same line. Frames are
 * "function<TAB>file<TAB>line", innermost first.
 */
static const char script[] =
	"\n"
	"import sys, os, threading, functools, re, ctypes\n"
	"sys.setrecursionlimit(10000)\n"
	"gate, keep = os.pipe()\n"
	"tid = getattr(threading, 'get_native_id', lambda: ctypes.CDLL(None).syscall(186))\n"
	"def describe(name, frame):\n"
	"    lines = []\n"
	"    while frame:\n"
	"        code = frame.f_code\n"
	"        lines.append('%s\\t%s\\t%d' % (getattr(code, 'co_qualname', code.co_name),\n"
	"                                     code.co_filename, frame.f_lineno or 0))\n"
	"        frame = frame.f_back\n"
	"    head = 'STACK %s %d %d' % (name, tid(), len(lines))\n"
	"    return ('\\n'.join([head] + lines) + '\\n').encode('utf-8')\n"
	"def hold(*a):\n"
	"    os.write(1, describe(case.name, sys._getframe())) and os.read(gate, 1)\n"
	"    return 1\n"
	"case = threading.local()\n"
	"cases = []\n"
	"def add(f):\n"
	"    cases.append(f)\n"
	"    return f\n"
	"@add\n"
	"def plain():\n"
	"    def inner(a, b):\n"
	"        x = (a +\n"
	"             hold())\n"
	"        return x\n"
	"    return inner(1,\n"
	"                 2)\n"
	"@add\n"
	"def by_sorted(): return sorted([1], key=lambda x: hold())\n"
	"@add\n"
	"def by_map():\n"
	"    return list(map(hold, [1]))\n"
	"@add\n"
	"def by_reduce(): return functools.reduce(lambda a, b: hold(), [1, 2])\n"
	"@add\n"
	"def by_comprehension(): return [hold() for i in range(1)]\n"
	"@add\n"
	"def by_generator():\n"
	"    def inner():\n"
	"        yield 0\n"
	"        yield hold()\n"
	"    def outer():\n"
	"        yield from inner()\n"
	"    for x in outer():\n"
	"        for y in (z for z in [x]): pass\n"
	"@add\n"
	"def by_next():\n"
	"    def g():\n"
	"        yield hold()\n"
	"    return sum(g())\n"
	"@add\n"
	"def by_coroutine():\n"
	"    async def leaf():\n"
	"        return hold()\n"
	"    async def root():\n"
	"        return await leaf()\n"
	"    try: root().send(None)\n"
	"    except StopIteration: pass\n"
	"class Thing:\n"
	"    def __init__(self): self.x = hold()\n"
	"class Leaves:\n"
	"    def __del__(self): hold()\n"
	"class Has:\n"
	"    @property\n"
	"    def value(self): return hold()\n"
	"    def __getitem__(self, i): return hold()\n"
	"@add\n"
	"def by_init():\n"
	"    make = lambda: Thing()\n"
	"    return make()\n"
	"@add\n"
	"def by_hot_init():\n"
	"    def make(n):\n"
	"        class T:\n"
	"            def __init__(self, n): self.x = hold() if n == 99 else 0\n"
	"        for i in range(100): T(i)\n"
	"    make(1)\n"
	"@add\n"
	"def by_del():\n"
	"    x = Leaves()\n"
	"    del x\n"
	"@add\n"
	"def by_property(): return Has().value\n"
	"@add\n"
	"def by_getitem(): return Has()[0]\n"
	"@add\n"
	"def by_handler():\n"
	"    try:\n"
	"        raise ValueError\n"
	"    except ValueError:\n"
	"        hold()\n"
	"@add\n"
	"def by_class():\n"
	"    class Inner:\n"
	"        x = hold()\n"
	"@add\n"
	"def by_ctypes():\n"
	"    f = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int)(hold)\n"
	"    return f(1)\n"
	"@add\n"
	"def by_sub(): return re.sub('a', lambda m: str(hold()), 'a')\n"
	"@add\n"
	"def by_partial(): return functools.partial(hold, 1)()\n"
	"@add\n"
	"def by_exec():\n"
	"    exec(compile('def f():\\n  hold()\\n\\nf()', '<made>', 'exec'), {'hold': hold})\n"
	"@add\n"
	"def by_unicode():\n"
	"    space = {'hold': hold}\n"
	"    text = u'def \\u00e9t\\u00e9(): hold()\\ndef \\u540d\\u524d(): \\u00e9t\\u00e9()\\n' "
	"\\\n"
	"           u'def \\U00020000x(): \\u540d\\u524d()\\n\\U00020000x()'\n"
	"    exec(compile(text, u'/\\u00fc/\\u4e2d/\\U0001f40d.py', 'exec'), space)\n"
	"@add\n"
	"def by_recursion(n=200): return hold() if n == 0 else by_recursion(n - 1)\n"
	"@add\n"
	"def by_deep_recursion(n=700): return hold() if n == 0 else by_deep_recursion(n - 1)\n"
	"@add\n"
	"def by_callbacks(n=20):\n"
	"    if n == 0: return hold()\n"
	"    return max([1], key=lambda x: by_callbacks(n - 1))\n"
	"@add\n"
	"def by_wide():\n"
	"    space = {'hold': hold}\n"
	"    exec('def f(n):\\n' + ''.join('  v%d = n\\n' % i for i in range(500)) +\n"
	"         '  return f(n - 1) if n else hold()\\nf(12)', space)\n"
	"@add\n"
	"def by_long_code():\n"
	"    space = {'hold': hold}\n"
	"    exec('def f(n):\\n' + '  n = [n,\\n\\n\\n    n]; n = 0\\n' * 400 + '  return "
	"hold()\\nf(1)',"
	" space)\n"
	"def tracer(*a): return tracer\n"
	"@add\n"
	"def by_traced():\n"
	"    def traced(f):\n"
	"        x = 1\n"
	"        return [x, f()]\n"
	"    traced(tracer)\n"
	"    sys.settrace(tracer)\n"
	"    traced(hold)\n"
	"@add\n"
	"def by_async_generator():\n"
	"    async def produce():\n"
	"        yield 0\n"
	"        async for x in inner(): yield x\n"
	"    async def inner():\n"
	"        yield hold()\n"
	"    async def consume():\n"
	"        return [x async for x in produce()]\n"
	"    async def root():\n"
	"        return await consume()\n"
	"    try: root().send(None)\n"
	"    except StopIteration: pass\n"
	"@add\n"
	"def by_await_chain(n=30):\n"
	"    class Waiting:\n"
	"        def __await__(self):\n"
	"            yield hold()\n"
	"    async def step(n):\n"
	"        if n: return await step(n - 1)\n"
	"        return await Waiting()\n"
	"    step(n).send(None)\n"
	"@add\n"
	"def by_async_with():\n"
	"    class Manager:\n"
	"        async def __aenter__(self): return hold()\n"
	"        async def __aexit__(self, *a): pass\n"
	"    async def root():\n"
	"        async with Manager(): pass\n"
	"    try: root().send(None)\n"
	"    except StopIteration: pass\n"
	"@add\n"
	"def by_hot_generator():\n"
	"    def values(n):\n"
	"        for i in range(n): yield hold() if i == 90 else i\n"
	"    for x in values(100): pass\n"
	"@add\n"
	"def by_throw():\n"
	"    def waiting():\n"
	"        try: yield 1\n"
	"        except ValueError: hold()\n"
	"        yield 2\n"
	"    def outer():\n"
	"        yield from waiting()\n"
	"    g = outer(); next(g)\n"
	"    g.throw(ValueError())\n"
	"@add\n"
	"def by_close():\n"
	"    def waiting():\n"
	"        try: yield 1\n"
	"        finally: hold()\n"
	"    g = waiting(); next(g)\n"
	"    g.close()\n"
	"@add\n"
	"def by_close_through():\n"
	"    def waiting():\n"
	"        try: yield 1\n"
	"        finally: hold()\n"
	"    def outer():\n"
	"        yield from waiting()\n"
	"    g = outer(); next(g)\n"
	"    g.close()\n"
	"@add\n"
	"def by_throw_through():\n"
	"    async def waiting():\n"
	"        try: await Waits()\n"
	"        except ValueError: return sorted([1], key=hold)\n"
	"    async def middle():\n"
	"        return await waiting()\n"
	"    async def outer():\n"
	"        return await middle()\n"
	"    def caller(g): g.throw(ValueError())\n"
	"    g = outer(); g.send(None)\n"
	"    sorted([g], key=caller)\n"
	"class Waits:\n"
	"    def __await__(self): yield 1\n"
	"@add\n"
	"def by_finally():\n"
	"    try:\n"
	"        try: raise KeyError\n"
	"        finally:\n"
	"            hold()\n"
	"    except KeyError: pass\n"
	"@add\n"
	"def by_with():\n"
	"    class Manager:\n"
	"        def __enter__(self): pass\n"
	"        def __exit__(self, *a): return hold()\n"
	"    with Manager():\n"
	"        raise ValueError\n"
	"@add\n"
	"def by_metaclass():\n"
	"    class Meta(type):\n"
	"        def __new__(cls, *a): return super().__new__(cls, *a)\n"
	"        def __init__(self, *a): hold()\n"
	"    class Made(metaclass=Meta): pass\n"
	"@add\n"
	"def by_subclass():\n"
	"    class Base:\n"
	"        def __init_subclass__(cls): hold()\n"
	"    class Sub(Base): pass\n"
	"@add\n"
	"def by_set_name():\n"
	"    class Descriptor:\n"
	"        def __set_name__(self, owner, name): hold()\n"
	"    class Owner:\n"
	"        d = Descriptor()\n"
	"@add\n"
	"def by_collector():\n"
	"    import gc\n"
	"    x = Leaves(); x.me = x; del x\n"
	"    with collecting: gc.collect()\n"
	"collecting = threading.Lock()\n"
	"@add\n"
	"def by_import():\n"
	"    class Loader:\n"
	"        def create_module(self, spec): return None\n"
	"        def exec_module(self, module): hold()\n"
	"    from importlib.machinery import ModuleSpec\n"
	"    from importlib.util import module_from_spec\n"
	"    spec = ModuleSpec('made_here', Loader())\n"
	"    spec.loader.exec_module(module_from_spec(spec))\n"
	"if os.environ.get('TEST_EXTENSION'):\n"
	"    sys.path.insert(0, os.environ['TEST_EXTENSION'])\n"
	"    import callback\n"
	"    @add\n"
	"    def by_extension(): return callback.call(hold)\n"
	"    @add\n"
	"    def by_nested_extension(n=5):\n"
	"        if n: return callback.call(lambda: by_nested_extension(n - 1))\n"
	"        return callback.Caller(hold)()\n"
	"    @add\n"
	"    def by_released_extension(): return callback.call_released(hold)\n"
	"    @add\n"
	"    def by_extension_generator():\n"
	"        def values(): yield callback.call(hold)\n"
	"        return callback.call(lambda: list(values()))\n"
	"def run(f):\n"
	"    case.name = f.__name__\n"
	"    f()\n"
	"for f in cases:\n"
	"    t = threading.Thread(target=run, args=(f,)); t.daemon = True; t.start()\n"
	"case.name = 'main'\n"
	"os.write(1, b'READY %d\\n' % (len(cases) + 1))\n"
	"hold()\n";

/* A C extension that calls back: from a function, a type's instances, and with the GIL let go. */
static const char extension[] =
	"#include <Python.h>\n"
	"static PyObject *call(PyObject *self, PyObject *f) { return PyObject_CallObject(f, NULL); "
	"}\n"
	"static PyObject *call_released(PyObject *self, PyObject *f)\n"
	"{\n"
	"	PyThreadState *state = PyEval_SaveThread();\n"
	"	PyGILState_STATE gil = PyGILState_Ensure();\n"
	"	PyObject *result = PyObject_CallObject(f, NULL);\n"
	"	PyGILState_Release(gil);\n"
	"	PyEval_RestoreThread(state);\n"
	"	return result;\n"
	"}\n"
	"typedef struct { PyObject_HEAD PyObject *f; } Caller;\n"
	"static int caller_init(Caller *self, PyObject *args, PyObject *kw)\n"
	"{\n"
	"	if (!PyArg_ParseTuple(args, \"O\", &self->f)) return -1;\n"
	"	Py_INCREF(self->f);\n"
	"	return 0;\n"
	"}\n"
	"static PyObject *caller_call(Caller *self, PyObject *args, PyObject *kw)\n"
	"{\n"
	"	return PyObject_CallObject(self->f, args);\n"
	"}\n"
	"static PyTypeObject type = { PyVarObject_HEAD_INIT(NULL, 0) .tp_name = \"Caller\",\n"
	"	.tp_basicsize = sizeof(Caller), .tp_flags = Py_TPFLAGS_DEFAULT,\n"
	"	.tp_new = PyType_GenericNew, .tp_init = (initproc)caller_init,\n"
	"	.tp_call = (ternaryfunc)caller_call };\n"
	"static PyMethodDef methods[] = { { \"call\", call, METH_O, NULL },\n"
	"	{ \"call_released\", call_released, METH_O, NULL }, { NULL } };\n"
	"static struct PyModuleDef module = { PyModuleDef_HEAD_INIT, \"callback\", NULL, -1, "
	"methods };\n"
	"PyMODINIT_FUNC PyInit_callback(void)\n"
	"{\n"
	"	PyObject *m = PyModule_Create(&module);\n"
	"	if (!m || PyType_Ready(&type)) return NULL;\n"
	"	Py_INCREF(&type);\n"
	"	PyModule_AddObject(m, \"Caller\", (PyObject *)&type);\n"
	"	return m;\n"
	"}\n";

static char extension_folder[] = "/tmp/pieprofd-test-XXXXXX";
static bool extension_built;

/* Compiles it against the interpreter's headers; false: there are none, or no compiler. */
static inline bool build_extension(const char *python)
{
	char command[4 * PATH_MAX];
	FILE *source;

	snprintf(command, sizeof(command), "%s/callback.c", extension_folder);
	source = fopen(command, "w");
	if (!source)
		return false;
	fputs(extension, source);
	fclose(source);
	snprintf(command, sizeof(command),
		 "cd %s && rm -f callback.so && include=$('%s' -c 'import sysconfig; "
		 "print(sysconfig.get_paths()[\"include\"])') && "
		 "cc -shared -fPIC -O1 -I\"$include\" -o callback.so callback.c 2>/dev/null",
		 extension_folder, python);
	return system(command) == 0;
}

static inline int make_folder(void **state)
{
	(void)state;
	return mkdtemp(extension_folder) ? 0 : -1;
}

static inline int remove_folder(void **state)
{
	char command[256];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf %s", extension_folder);
	return system(command);
}

#define CASES_MAX  64
#define STACK_COPY (256u << 10)

struct expected_frame {
	char *function, *file;
	int line;
};

struct expected_stack {
	char name[64];
	pid_t tid;
	size_t count;
	struct expected_frame *frames;
};

struct session {
	struct live_target target;
	struct live_binary binary;
	struct live_memory memory;
	struct debug_info info;
	struct memory_reader reader;
	struct expected_stack stacks[CASES_MAX];
	size_t count;
	uint8_t *stack_bytes;
};

/* Records may come in any order; READY tells how many there are. */
static inline void read_expected(struct session *session)
{
	size_t wanted = SIZE_MAX;
	char line[8192];

	while (session->count < wanted) {
		struct expected_stack *stack = &session->stacks[session->count];

		assert_true(live_target_line(&session->target, line, sizeof(line)));
		if (sscanf(line, "READY %zu", &wanted) == 1)
			continue;
		assert_true(session->count < CASES_MAX);
		assert_int_equal(
			sscanf(line, "STACK %63s %d %zu", stack->name, &stack->tid, &stack->count),
			3);
		stack->frames = calloc(stack->count, sizeof(*stack->frames));
		for (size_t i = 0; i < stack->count; i++) {
			char *file, *number;

			assert_true(live_target_line(&session->target, line, sizeof(line)));
			file = strchr(line, '\t');
			assert_non_null(file);
			*file++ = '\0';
			number = strchr(file, '\t');
			assert_non_null(number);
			*number++ = '\0';
			stack->frames[i] =
				(struct expected_frame){ strdup(line), strdup(file), atoi(number) };
		}
		session->count++;
	}
}

static inline void session_start(struct session *session, const struct live_python *python)
{
	memset(session, 0, sizeof(*session));
	extension_built = build_extension(python->path);
	if (extension_built)
		setenv("TEST_EXTENSION", extension_folder, 1);
	else
		unsetenv("TEST_EXTENSION");
	assert_true(live_target_start(&session->target, python->path, script));
	read_expected(session);
	assert_true(live_binary_find(&session->binary, session->target.pid));
	session->memory.pid = session->target.pid;
	session->info = live_debug_info(&session->binary);
	session->reader = (struct memory_reader){ live_memory_read, &session->memory };
	session->stack_bytes = malloc(STACK_COPY);
}

static inline void session_end(struct session *session)
{
	for (size_t i = 0; i < session->count; i++) {
		for (size_t j = 0; j < session->stacks[i].count; j++) {
			free(session->stacks[i].frames[j].function);
			free(session->stacks[i].frames[j].file);
		}
		free(session->stacks[i].frames);
	}
	free(session->stack_bytes);
	live_binary_close(&session->binary);
	live_target_end(&session->target);
}

static inline bool same_stack(const struct python_stack *found,
			      const struct expected_stack *expected, bool report)
{
	const size_t most = 512; /* as in docs/SECURITY.md */
	bool deep = expected->count > most;
	/* 3.9 forgets the callers of a generator that an exception is thrown through. */
	bool cut = deep || (found->count && found->frames[0].code->minor == 9 &&
			    strncmp(expected->name, "by_throw", 8) == 0);
	bool same = found->count == (deep ? most : expected->count) &&
		    found->flags == (cut ? PYTHON_STACK_TRUNCATED : 0);

	for (size_t i = 0; same && i < found->count; i++) {
		const struct python_frame *frame = &found->frames[i];
		const struct expected_frame *wanted = &expected->frames[i];
		int line = python_code_line(frame->code, frame->instruction_offset);

		same = strcmp(frame->code->function, wanted->function) == 0 &&
		       strcmp(frame->code->file, wanted->file) == 0 && line == wanted->line;
	}
	if (same || !report)
		return same;
	print_error("%s: %zu frames, flags %x, expected %zu\n", expected->name, found->count,
		    found->flags, expected->count);
	for (size_t i = 0; i < found->count && i < 12; i++)
		print_error("  found    %s %s %d at %d\n", found->frames[i].code->function,
			    found->frames[i].code->file,
			    python_code_line(found->frames[i].code,
					     found->frames[i].instruction_offset),
			    found->frames[i].instruction_offset);
	for (size_t i = 0; i < expected->count && i < 12; i++)
		print_error("  expected %s %s %d\n", expected->frames[i].function,
			    expected->frames[i].file, expected->frames[i].line);
	return false;
}

#endif
