#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Sleeps at the bottom of a stack that goes to and fro between Python and C.

Prints that stack as the interpreter knows it, a line a frame, outermost first,
`function line`; then `ready`. Ends when its standard input does.
"""
import ctypes
import functools
import os
import sys
import threading
import time

from support import ready

INTEGER_FUNCTION = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int)


def show(frame):
    """How long to sleep, after the stack above was printed."""
    frames = []
    while frame:
        frames.append("%s %d" % (frame.f_code.co_name, frame.f_lineno))
        frame = frame.f_back
    print("\n".join(reversed(frames)), flush=True)
    ready()
    return 3600


def bottom(_):
    time.sleep(show(sys._getframe()))
    return 0


@INTEGER_FUNCTION
def called_by_ctypes(value):
    return bottom(value)


def through_ctypes(value):
    return called_by_ctypes(value)


def generate(value):
    yield through_ctypes(value)


def delegate(value):
    yield from generate(value)


def through_generator(value):
    return next(delegate(value))


async def coroutine(value):
    return through_generator(value)


def through_coroutine(value):
    try:
        coroutine(value).send(None)
    except StopIteration as stop:
        return stop.value


class Built:
    through = through_coroutine

    def __init__(self, value):
        self.value = Built.through(value)


class Meta(type):
    def __new__(mcs, name, bases, namespace):
        Built(namespace["value"])
        return super().__new__(mcs, name, bases, namespace)


def through_class(number):
    class Made(metaclass=Meta):
        value = number

    return Made.value


class Dying:
    def __del__(self):
        through_class(1)


def through_finaliser(_):
    Dying()
    return 0


def through_exception(value):
    try:
        raise ValueError(value)
    except ValueError:
        return through_finaliser(value)
    finally:
        pass


def through_reduce(value):
    return functools.reduce(lambda a, b: through_exception(a + b), [value, 1])


def through_map(value):
    return list(map(through_reduce, [value]))[0]


def recurse(depth):
    if depth:
        return recurse(depth - 1)
    return sorted([1], key=through_map)


def main():
    threading.Thread(target=recurse, args=(20,), name="mixed", daemon=True).start()
    sys.stdin.read()
    print("ok mixed_stack", flush=True)
    os._exit(0)


if __name__ == "__main__":
    main()
