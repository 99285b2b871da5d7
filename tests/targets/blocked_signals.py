# SPDX-License-Identifier: Apache-2.0
"""
Two threads that do the same in turn: in the interpreter, in native code, in the kernel.
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


def blocked(after):
    while time.monotonic() < after:
        blocked_work()
    signal.pthread_sigmask(signal.SIG_BLOCK, range(1, signal.SIGSYS + 1))
    while not over.is_set():
        blocked_work()


def opened(_):
    while not over.is_set():
        open_work()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--after", type=float, default=0, help="seconds until the signals are blocked")
    arguments = parser.parse_args()
    after = time.monotonic() + arguments.after
    threads = [threading.Thread(target=work, args=(after,), name=work.__name__, daemon=True)
               for work in (blocked, opened)]
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
