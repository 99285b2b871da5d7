#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A heap of known shape, and the truth about it from inside.

    heap_shapes.py [--count N] [--churn]

Without numpy there are no arrays.
Prints before "ready" a line of JSON: by type, how many objects the collector leads to, and what the allocator says of itself.
--churn: a thread replaces members of a ring as fast as it can. Ends when its standard input does.
"""
import argparse
import collections
import gc
import json
import os
import sys
import tempfile
import threading

from support import ready

try:
    import numpy
except ImportError:
    numpy = None  # as for most free-threaded builds


class Order:
    def __init__(self, number):
        self.number = number + 100000
        self.name = "order %d" % number
        self.lines = [Line(number + part / 2) for part in range(2)]


class Line:
    __slots__ = ("price", "tags", "next")

    def __init__(self, price):
        self.price = price
        self.tags = {"tag %d" % number for number in range(6)}
        self.next = None


class Context(threading.local):
    def __init__(self):
        self.trail = []


cache = {}
linked = None
context = Context()
arrays = []
ring = {}


def recorder(count):
    recorded = [float(number) for number in range(count)]

    def record(number):
        recorded.append(number)

    return record


record = recorder(5000)


def build(count):
    global linked
    for number in range(count):
        cache[number] = Order(number)
    for number in range(count):
        linked = (linked, float(number))
    context.trail.extend([number] for number in range(count))
    for number in range(4 if numpy else 0):
        arrays.append(numpy.full(100000, 1.5))
        arrays.append(numpy.arange(50000, dtype=numpy.int32))


def count_types():
    """Of all objects that the collector knows, and what these refer to."""
    seen, waiting = {}, gc.get_objects()
    for item in waiting:
        seen[id(item)] = item
    mine = {id(seen), id(waiting)}
    while waiting:
        for item in gc.get_referents(waiting.pop()):
            if id(item) not in seen and id(item) not in mine:
                seen[id(item)] = item
                waiting.append(item)
    return collections.Counter(type(item).__name__ for number, item in seen.items() if number not in mine)


def allocated_bytes():
    """In blocks of pymalloc: what sys._debugmallocstats() writes to the second file of the process."""
    with tempfile.TemporaryFile() as file:
        kept = os.dup(2)
        os.dup2(file.fileno(), 2)
        sys._debugmallocstats()
        os.dup2(kept, 2)
        os.close(kept)
        file.seek(0)
        for line in file.read().decode().splitlines():
            if line.startswith("# bytes in allocated blocks"):
                return int(line.split("=")[1].replace(",", ""))
    return None


def replace(count):
    number = 0
    while True:
        for _ in range(1000):
            ring[number % count] = {"number": number, "list": [number]}
            number += 1


def wait_with_a_local(count):
    mine = [bytes(100 + number % 7) for number in range(count)]
    ready()
    sys.stdin.read()
    return len(mine)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=5000)
    parser.add_argument("--churn", action="store_true")
    arguments = parser.parse_args()
    build(arguments.count)
    if arguments.churn:
        for number in range(arguments.count):
            ring[number] = {"number": number, "list": [number]}
    gc.collect()
    if arguments.churn:
        gc.disable()
    truth = {"allocated": allocated_bytes(), "types": count_types()}
    gc.collect()
    print(json.dumps(truth), flush=True)
    del truth
    if arguments.churn:
        threading.Thread(target=replace, args=(arguments.count,), daemon=True).start()
    wait_with_a_local(1000)
    print("ok heap_shapes", flush=True)
    os._exit(0)


if __name__ == "__main__":
    main()
