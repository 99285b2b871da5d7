# SPDX-License-Identifier: Apache-2.0
"""Functions that log when they are entered, left and raised from, in order: printed as JSON, a list for each thread.

It says "ready" in a function that returns when a line has come, calls its functions, and waits for another line. Those
whose names begin with w_ are logged, and none else. From CPython 3.6 on.
"""
import json
import sys
import threading

threads = threading.local()
logs = []


def log(what, name):
    threads.log.append((what, name))


def w_leaf():
    log("enter", "w_leaf")
    log("leave", "w_leaf")


def between(function):
    """Not watched, and calls what is."""
    return function()


def w_recursive(depth):
    log("enter", "w_recursive")
    if depth:
        between(lambda: w_recursive(depth - 1))
    w_leaf()
    log("leave", "w_recursive")


def w_raising(depth):
    log("enter", "w_raising")
    try:
        if depth:
            between(lambda: w_raising(depth - 1))
        raise KeyError(depth)
    finally:
        w_leaf()
        log("raise", "w_raising")


def w_catching(depth):
    log("enter", "w_catching")
    try:
        w_raising(depth)
    except KeyError:
        w_leaf()
    log("leave", "w_catching")


def w_generator(count):
    log("enter", "w_generator")
    try:
        for i in range(count):
            w_leaf()
            log("leave", "w_generator")
            try:
                yield i
            except ValueError:
                log("enter", "w_generator")
                w_leaf()
                continue
            log("enter", "w_generator")
        log("leave", "w_generator")
    except GeneratorExit:
        log("enter", "w_generator")
        log("raise", "w_generator")
        raise


def w_delegating(count):
    log("enter", "w_delegating")
    generator = w_generator(count)
    # What is yielded passes through both.
    for value in generator:
        log("leave", "w_delegating")
        yield value
        log("enter", "w_delegating")
    log("leave", "w_delegating")


def w_generating():
    log("enter", "w_generating")
    list(w_generator(3))
    sum(w_delegating(2))
    thrown = w_generator(3)
    next(thrown)
    thrown.throw(ValueError())
    closed = w_generator(3)
    next(closed)
    closed.close()
    log("leave", "w_generating")


class Odd:
    """Whose methods are called from C."""

    def w_key(self):
        log("enter", "w_key")
        log("leave", "w_key")
        return 1

    def __getattr__(self, name):
        w_catching(0)
        raise AttributeError(name)

    def __del__(self):
        w_leaf()


def w_from_c():
    log("enter", "w_from_c")
    odds = [Odd(), Odd(), Odd()]
    odds.sort(key=Odd.w_key)
    hasattr(odds[0], "absent")
    del odds
    list(map(w_recursive, (0, 1)))
    log("leave", "w_from_c")


def w_all(count):
    log("enter", "w_all")
    for depth in range(count):
        w_recursive(depth)
        w_catching(depth)
        w_generating()
        w_from_c()
    log("leave", "w_all")


def in_thread(count):
    threads.log = []
    w_all(count)
    logs.append(threads.log)


def wait():
    print("ready", flush=True)
    sys.stdin.readline()


def w_waiting():
    """Entered before anybody watches, and seen once it calls something that is watched."""
    between(wait)
    w_leaf()
    w_catching(1)
    log("leave", "w_waiting")


def main():
    threads.log = []
    between(w_waiting)
    w_all(3)
    others = [threading.Thread(target=in_thread, args=(count,)) for count in (1, 2)]
    for other in others:
        other.start()
    for other in others:
        other.join()
    print(json.dumps(logs + [threads.log]), flush=True)
    sys.stdin.readline()


main()
