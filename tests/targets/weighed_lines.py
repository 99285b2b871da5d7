# SPDX-License-Identifier: Apache-2.0
"""Lines that take one, two and four units of the same work, and others on stacks of other kinds, in random order.

What is done is fixed, not how long it takes: however slow the machine and whoever stops it, each line's share stays.
"""
import argparse
import random
import time
import zlib

import support

UNIT = 4000
TEXT = bytes(range(256)) * 80
DEPTH = 60


def one():
    x = 0
    for i in range(UNIT):
        x += i * i % 7  # kind: one
    return x


def two():
    x = 0
    for i in range(2 * UNIT):
        x += i * i % 7  # kind: two
    return x


def four():
    x = 0
    for i in range(4 * UNIT):
        x += i * i % 7  # kind: four
    return x


def counted():
    for i in range(2 * UNIT):
        yield i * i % 7  # kind: generator


def generated():
    return sum(counted())


def recurse(depth):
    if depth:
        return recurse(depth - 1)
    x = 0
    for i in range(2 * UNIT):
        x += i * i % 7  # kind: deep
    return x


def deep():
    return recurse(DEPTH)


def native():
    return len(zlib.compress(TEXT, 9))  # kind: native


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=10)
    arguments = parser.parse_args()
    work = [one, two, four, generated, deep, native]
    support.ready()
    end = time.monotonic() + arguments.seconds
    rounds = 0
    while time.monotonic() < end:
        random.shuffle(work)
        for part in work:
            part()
        rounds += 1
    support.finish("weighed_lines", [] if rounds else ["nothing was done"], "rounds=%d" % rounds)


if __name__ == "__main__":
    main()
