# SPDX-License-Identifier: Apache-2.0
"""The same work at the bottom of stacks of every kind, a part of the time each; lines say which.

plain, generator, coroutine, called back by C, and at the bottom of a recursion of 300 frames.
"""
import argparse
import sys
import time
import zlib

import support

DEPTH = 300
TEXT = bytes(range(256)) * 40
PART_NS = 20000000


def now_ns():
    # time.monotonic_ns() is not in Python 3.6.
    return int(time.monotonic() * 1e9)


def plain(end):
    x = 0
    while now_ns() < end:
        for i in range(2000):
            x += i * i % 7  # kind: plain
    return x


def counted(end):
    while now_ns() < end:
        for i in range(2000):
            yield i * i % 7  # kind: generator


def through_generator(end):
    for _ in counted(end):
        pass


async def awaited(end):
    x = 0
    while now_ns() < end:
        for i in range(2000):
            x += i * i % 7  # kind: coroutine
    return x


async def awaits(end):
    return await awaited(end)


def through_coroutine(end):
    try:
        awaits(end).send(None)
    except StopIteration:
        pass


def called_back(end):
    x = 0
    while now_ns() < end:
        for i in range(2000):
            x += i * i % 7  # kind: called back
    return x


def through_sort(end):
    return sorted([end], key=called_back)


def recurse(depth, end):
    if depth:
        return recurse(depth - 1, end)
    x = 0
    while now_ns() < end:
        for i in range(2000):
            x += i * i % 7  # kind: deep
    return x


def native(end):
    while now_ns() < end:
        zlib.compress(TEXT, 9)  # kind: native


def through_recursion(end):
    return recurse(DEPTH, end)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=10)
    arguments = parser.parse_args()
    sys.setrecursionlimit(10000)
    support.ready()
    end = time.monotonic() + arguments.seconds
    rounds = 0
    while time.monotonic() < end:
        for work in (plain, through_generator, through_coroutine, through_sort, through_recursion, native):
            work(now_ns() + PART_NS)
        rounds += 1
    support.finish("stack_kinds", [] if rounds else ["nothing was done"], "rounds=%d" % rounds)


if __name__ == "__main__":
    main()
