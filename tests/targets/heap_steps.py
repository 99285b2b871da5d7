#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A heap that changes when it is told to, by lines of standard input.

    heap_steps.py

keep N: a dict gets N more orders with two lines each. drop: an archive, a list of bytes, is emptied. Each is answered by "done".
Ends when its standard input does.
"""
import gc
import os
import sys

from support import ready


class Order:
    __slots__ = ("number", "lines")

    def __init__(self, number):
        self.number = number + 1000000
        self.lines = [Line(), Line()]


class Line:
    __slots__ = ("price",)

    def __init__(self):
        self.price = 2.5 * id(self)


cache = {}
archive = [bytes(1000) for _ in range(4000)]


def obey(line):
    word, _, count = line.partition(" ")
    if word == "keep":
        for number in range(len(cache), len(cache) + int(count)):
            cache[number] = Order(number)
    elif word == "drop":
        archive.clear()
    gc.collect()


def main():
    obey("keep 1000")
    ready()
    for line in sys.stdin:
        obey(line.strip())
        print("done", flush=True)
    print("ok heap_steps", flush=True)
    os._exit(0)


if __name__ == "__main__":
    main()
