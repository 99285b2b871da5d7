/* SPDX-License-Identifier: Apache-2.0 */
/* A program that alternates between ways of calling, and which of its stacks can be. */
#ifndef PIEPROFD_TESTS_UNIT_SUPPORT_ALTERNATING_H
#define PIEPROFD_TESTS_UNIT_SUPPORT_ALTERNATING_H

#include "pyintrospect/python_stack.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* Function X<n> is called by X<n-1> alone, X1 by loop alone. */
__attribute__((unused)) static const char alternating[] =
	"\n"
	"import sys, os, threading, functools\n"
	"def a1(): return a2()\n"
	"def a2(): return a3(1)\n"
	"def a3(x): return sorted([x, 2], key=a4)\n"
	"def a4(x): return a5() + x\n"
	"def a5(): return 1\n"
	"def b1(): return list(map(b2, (1, 2)))\n"
	"def b2(x): return functools.reduce(b3, (x, x))\n"
	"def b3(x, y): return max((x, y), key=b4)\n"
	"def b4(x): return b5(x)\n"
	"def b5(x): return sum(b6(x))\n"
	"def b6(x):\n"
	"    yield b7(x)\n"
	"    yield 1\n"
	"def b7(x): return x\n"
	"class C:\n"
	"    def __init__(self): c3()\n"
	"    def __eq__(self, other): return c5()\n"
	"    __hash__ = None\n"
	"def c1():\n"
	"    C()\n"
	"    return [C()] == [C()]\n"
	"def c3(): return c4()\n"
	"def c4(): return 1\n"
	"def c5(): return True\n"
	"def d1():\n"
	"    try: d2().send(None)\n"
	"    except StopIteration: pass\n"
	"async def d2(): return max((1, 2), key=d3)\n"
	"def d3(x): return list(map(d4, (x, x)))\n"
	"def d4(x): return x\n"
	"def loop():\n"
	"    while True:\n"
	"        d1()\n"
	"        a1()\n"
	"        b1()\n"
	"        c1()\n"
	"for i in range(int(os.environ['THREADS'])):\n"
	"    threading.Thread(target=loop, daemon=True).start()\n"
	"os.write(1, b'READY\\n')\n"
	"loop()\n";

struct edge {
	const char *callee, *caller;
};

/* Up to 3.10 names are not qualified: C.__init__ is __init__. */
static const struct edge edges[] = {
	{ "a1", "loop" },
	{ "a2", "a1" },
	{ "a3", "a2" },
	{ "a4", "a3" },
	{ "a5", "a4" },
	{ "b1", "loop" },
	{ "b2", "b1" },
	{ "b3", "b2" },
	{ "b4", "b3" },
	{ "b5", "b4" },
	{ "b6", "b5" },
	{ "b7", "b6" },
	{ "c1", "loop" },
	{ "c3", "init" },
	{ "c4", "c3" },
	{ "c5", "eq" },
	{ "d1", "loop" },
	{ "d2", "d1" },
	{ "d3", "d2" },
	{ "d4", "d3" },
	{ "init", "c1" },
	{ "eq", "c1" },
	{ "loop", "run" },
	{ "loop", "<module>" },
	{ "run", "_bootstrap_inner" },
	{ "_bootstrap_inner", "_bootstrap" },
};

static const char *short_name(const char *function)
{
	const char *dot = strrchr(function, '.');

	function = dot ? dot + 1 : function;
	return strcmp(function, "__init__") == 0 ? "init"
	       : strcmp(function, "__eq__") == 0 ? "eq"
						 : function;
}

static bool legal_call(const char *callee, const char *caller)
{
	for (size_t i = 0; i < sizeof(edges) / sizeof(edges[0]); i++)
		if (strcmp(edges[i].callee, short_name(callee)) == 0 &&
		    strcmp(edges[i].caller, short_name(caller)) == 0)
			return true;
	return false;
}

__attribute__((unused)) static void print_stack(const struct python_stack *stack)
{
	print_error("flags %x:", stack->flags);
	for (size_t i = 0; i < stack->count; i++)
		print_error(" %s@%d%s", stack->frames[i].code->function,
			    stack->frames[i].instruction_offset,
			    stack->frames[i].entry ? " |" : "");
	print_error("\n");
}

/* A whole stack, from some function down to the thread's first. */
__attribute__((unused)) static bool legal_stack(const struct python_stack *stack)
{
	const char *last;

	if (stack->count == 0 || !stack->frames[stack->count - 1].entry)
		return false;
	for (size_t i = 0; i + 1 < stack->count; i++)
		if (!legal_call(stack->frames[i].code->function,
				stack->frames[i + 1].code->function))
			return false;
	last = short_name(stack->frames[stack->count - 1].code->function);
	return strcmp(last, "<module>") == 0 || strcmp(last, "_bootstrap") == 0;
}

#endif
