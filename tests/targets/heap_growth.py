#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A heap that grows, or does not, in a known way.

    heap_growth.py KIND [--rate N] [--ballast N]

KIND says what becomes of each request: keep() of it in a cache, and so on. Ends with SIGTERM, and says then how many requests
there were.
"""
import argparse
import collections
import ctypes
import functools
import gc
import signal
import threading
import time

from support import finish, ready, traced

cache = {}
registry = []
members = set()
window = collections.deque(maxlen=2000)
backlog = collections.deque()
sessions = None
notes = None
ballast = []
spaces = []
libc = ctypes.CDLL(None)
libc.malloc.restype = ctypes.c_void_p
libc.free.argtypes = [ctypes.c_void_p]
libc.memset.argtypes = [ctypes.c_void_p, ctypes.c_int, ctypes.c_size_t]


class Order:
    def __init__(self, number):
        self.number = number
        self.lines = ["line %d of order %d" % (part, number) for part in range(3)]


class Node:
    __slots__ = ("order", "next")

    def __init__(self, order, following):
        self.order = order
        self.next = following


class Circle:
    def __init__(self, number):
        self.me = self
        self.order = Order(number)


@functools.lru_cache(maxsize=None)
def priced(number):
    return {"number": number, "price": "%d EUR" % number}


def keep(number):
    cache["order %d" % number] = Order(number)  # the line


def append(number):
    registry.append(Order(number))  # the line


def add(number):
    members.add("member %d" % number)  # the line


def enqueue(number):
    backlog.append(Order(number))  # the line


def ask(number):
    return priced(number)  # the line


def link(number):
    global sessions
    sessions = Node(Order(number), sessions)  # made


def note(number):
    """Nothing but built-in types."""
    global notes
    notes = ({"note": number}, number, notes)  # made


def circle(number):
    Circle(number)  # made


def allocate(number):
    block = libc.malloc(1000 + number % 100)  # allocated
    libc.memset(block, 1, 1000)
    libc.free(libc.malloc(3000 + number % 100))


def refresh(number):
    """A cache that was full before the first look."""
    cache[number % 2000] = Order(number)
    window.append(number)


def warm(number):
    """Fewer and fewer of the keys are new: 16 of 17 times the time constant is a second or so."""
    cache[(number * 7919) % 99991 * number % len(ballast)] = Order(number)


def scatter(number):
    """Of what was made before the first look, one of eight stayed: the pools of the others are free but for it."""
    return spaces[number % len(spaces)]


KINDS = {function.__name__: function for function in (keep, append, add, enqueue, ask, link, note, circle, allocate, refresh, warm, scatter)}


def request(number):
    """What any program does beside."""
    return sum(len(part) for part in [{"user": number, "part": str(part)} for part in range(10)])


def handle(kind, number):
    request(number)
    KINDS[kind](number)


def serve(kind, rate, ended):
    began, number = time.perf_counter(), 0
    while not ended.is_set():
        handle(kind, number)
        number += 1
        late = began + number / rate - time.perf_counter()
        if late > 0:
            time.sleep(late)
    return number


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kind", choices=sorted(KINDS))
    parser.add_argument("--rate", type=float, default=2000)
    parser.add_argument("--ballast", type=int, default=20000)
    arguments = parser.parse_args()
    ballast.extend(str(number) for number in range(arguments.ballast))
    if arguments.kind == "circle":
        gc.disable()
    if arguments.kind == "refresh":
        for number in range(2000):
            refresh(number)
    if arguments.kind == "scatter":
        spaces.extend([bytes(500) for _ in range(60000)][::8])
    ended = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: ended.set())
    ready()
    requests = serve(arguments.kind, arguments.rate, ended)
    problems = ["somebody traces it"] if traced() else []
    finish("heap_growth", problems, "%d requests" % requests)


if __name__ == "__main__":
    main()
