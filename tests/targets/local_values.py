#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Threads whose local variables are of every kind that a dump tells.

    local_values.py [--numpy] [--work]

Ends when its standard input does.
"""
import argparse
import asyncio
import collections
import functools
import os
import sys
import threading
import time

from support import ready


class Point:
    def __init__(self):
        self.x = 1


class Row(list):
    pass


def evil(name):
    """A variable whose repr() must never run."""
    def fail(self):
        os.write(1, b"wrong local_values: the target's own code has run\n")
        os._exit(9)
    return type(name, (), {"__repr__": fail, "__str__": fail, "__len__": fail, "__getattribute__": fail})()


def sleep(numbers, *rest, keyword="k", **others):
    nothing, true, false = None, True, False
    small, negative, large, huge = 7, -(10 ** 18), 2 ** 100, 2 ** 1000
    wide_real = 3600.0
    real, whole_real, tiny, infinite, imaginary = 0.1, 2.0, 5e-324, float("-inf"), 1 + 2j
    text, quoted, long_text = "grüße 漢 😀", "it's\n\x1b[31m\u202e", "x" * 5000
    data, array = b"a\x00\xff'", bytearray(b"abc")
    pair, single, empty = (1, "two"), (None,), ()
    long_list, nested = list(range(100)), [[[[[1]]]], {"a": {"b": [2]}}]
    mapping, numbered = {"key": [1, 2]}, {i: i * i for i in range(50)}
    group, frozen, no_group = {3}, frozenset([4]), set()
    point, row, counts = Point(), Row([1, 2]), collections.OrderedDict(a=1)
    trap = evil("Trap")
    lock = threading.Lock()
    cyclic = []
    cyclic.append(cyclic)
    kept = "in a cell"
    unset = 1
    del unset

    def inner():
        own = kept
        time.sleep(3600)  # sleeps
        return own
    return inner() or (nothing, true, false, small, negative, large, huge, real, whole_real, wide_real, tiny, infinite,
                       imaginary, text, quoted, long_text, data, array, pair, single, empty, long_list, nested, mapping, numbered,
                       group, frozen, no_group, point, row, counts, trap, lock, cyclic, numbers, rest, keyword, others)


def work():
    total, label = 0, "working"
    while label:
        total += sum(range(100))  # works


def shapes(numpy):
    matrix, scalar, column = numpy.zeros((1000, 3)), numpy.float64(1.5), numpy.arange(6, dtype="int32")[::2]
    words = numpy.array(["a", "bcd"])
    time.sleep(3600)  # sleeps with arrays
    return matrix, scalar, column, words


def loop():
    async def waits(number):
        name = "task %d" % number
        await asyncio.sleep(3600)  # awaits
        return name

    async def run():
        await asyncio.gather(waits(1), waits(2))

    asyncio.new_event_loop().run_until_complete(run())


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--numpy", action="store_true")
    parser.add_argument("--work", action="store_true")
    options = parser.parse_args()
    functions = [lambda: sleep([1, 2], 3, 4, other=5), loop]
    if options.numpy:
        import numpy
        functions.append(functools.partial(shapes, numpy))
    functions += [work] if options.work else []
    for function in functions:
        name = getattr(function, "__name__", "shapes")
        threading.Thread(target=function, name=name, daemon=True).start()
    time.sleep(0.5)
    ready()
    sys.stdin.read()  # waits for the end
    print("ok local_values", flush=True)
    os._exit(0)


if __name__ == "__main__":
    main()
