#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Threads that wait for each other in circles, a circle of each kind, and some that only seem to.

Ends when its standard input does.
"""
import os
import sys
import threading
import time

from support import ready


class Circle:
    def __init__(self, kind, first, second):
        self.first, self.second = first, second
        self.both = threading.Barrier(2)
        for function in (self.forwards, self.backwards):
            threading.Thread(target=function, name="%s %s" % (kind, function.__name__), daemon=True).start()

    def forwards(self):
        with self.first:  # takes first
            self.both.wait()
            with self.second:  # waits for second
                pass

    def backwards(self):
        with self.second:  # takes second
            self.both.wait()
            self.first.acquire()  # waits for first


def without_with(first, second, both):
    first.acquire()
    both.wait()
    second.acquire()  # waits for an RLock


def again(lock):
    with lock:  # takes its own
        enter(lock)


def enter(lock):
    with lock:  # waits for its own
        pass


def wait_for(lock):
    with lock:  # waits for who joins
        pass


def join(lock, taken):
    with lock:  # takes and joins
        thread = threading.Thread(target=wait_for, args=(lock,), name="join inner", daemon=True)
        thread.start()
        taken.set()
        thread.join()  # waits for an end


def hold(lock):
    with lock:
        time.sleep(3600)


def wait_inside(condition):
    with condition:
        condition.wait()


def start(name, function, *arguments):
    threading.Thread(target=function, args=arguments, name=name, daemon=True).start()


def main():
    # Names are a program's own, with ends of lines if it likes.
    Circle("lock\nof two", threading.Lock(), threading.Lock())
    Circle("condition", threading.Condition(), threading.Lock())
    one, other, both = threading.RLock(), threading.RLock(), threading.Barrier(2)
    start("RLock forwards", without_with, one, other, both)
    start("RLock backwards", without_with, other, one, both)
    start("again", again, threading.Lock())
    taken = threading.Event()
    start("join outer", join, threading.Lock(), taken)
    taken.wait()
    # No circles.
    held, condition = threading.Lock(), threading.Condition()
    start("holds", hold, held)
    time.sleep(0.1)
    start("waits", wait_for, held)
    start("waits inside", wait_inside, condition)
    start("waits inside, too", wait_inside, condition)
    time.sleep(0.3)
    ready()
    sys.stdin.readline()
    print("ok circles", flush=True)
    os._exit(0)


if __name__ == "__main__":
    main()
