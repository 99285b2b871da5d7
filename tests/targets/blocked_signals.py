# SPDX-License-Identifier: Apache-2.0
"""
Two threads that do the same in turn: in the interpreter, in native code, in the kernel; or in one of numpy's calls after
the other, or in the interpreter alone.
One blocks all signals, as the workers of servers and the pools of libraries do.
"""
import argparse
import signal
import threading
import time
import zlib

import support

ZEROS = open("/dev/zero", "rb", buffering=0)
TEXT = bytes(range(256)) * 300
over = threading.Event()


def blocked_python(n):
    x = 0
    for i in range(n):
        x += i * i % 7  # blocked: python
    return x


def blocked_work():
    blocked_python(20000)
    zlib.compress(TEXT, 9)  # blocked: native
    ZEROS.readinto(bytearray(4 << 20))  # blocked: system


def open_python(n):
    x = 0
    for i in range(n):
        x += i * i % 7  # open: python
    return x


def open_work():
    open_python(20000)
    zlib.compress(TEXT, 9)  # open: native
    ZEROS.readinto(bytearray(4 << 20))  # open: system


def interpreted():
    words = {}
    for i in range(5000):
        words[i % 97] = words.get(i % 89, 0) + i


def make_numpy_work():
    import numpy

    a, b, c = (numpy.linspace(0.1, 1, 300) for _ in range(3))

    def small_calls():
        for _ in range(300):
            numpy.multiply(a, b, out=c)
            c[10:200] += a[20:210]
            numpy.sqrt(c, out=c)
            c.sum()
    return small_calls


def blocked(after, work):
    while time.monotonic() < after:
        work()
    signal.pthread_sigmask(signal.SIG_BLOCK, range(1, signal.SIGSYS + 1))
    while not over.is_set():
        work()


def opened(_, work):
    while not over.is_set():
        work()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--after", type=float, default=0, help="seconds until the signals are blocked")
    parser.add_argument("--work", choices=("all", "numpy", "python"), default="all")
    arguments = parser.parse_args()
    works = {"all": lambda: (blocked_work, open_work), "numpy": lambda: (make_numpy_work(),) * 2,
             "python": lambda: (interpreted,) * 2}[arguments.work]()
    after = time.monotonic() + arguments.after
    threads = [threading.Thread(target=run, args=(after, work), name=run.__name__, daemon=True)
               for run, work in zip((blocked, opened), works)]
    for thread in threads:
        thread.start()
    time.sleep(0.1)
    support.ready()
    end = time.monotonic() + arguments.seconds
    while time.monotonic() < end:
        time.sleep(0.1)
    over.set()
    for thread in threads:
        thread.join()
    support.finish("blocked_signals", [])


main()
