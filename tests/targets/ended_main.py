# SPDX-License-Identifier: Apache-2.0
"""
A process whose main thread ends before the others, as some programs with an interpreter in them do: at once, or
with `--wait` when a line comes in. The others work until standard input is at its end.
"""
import argparse
import ctypes
import os
import sys
import threading
import time

import support

libc = ctypes.CDLL(None)
over = threading.Event()


def multiply(n):
    x = 1
    for i in range(n):
        x = x * 3 % 1000003  # the worker's line
    return x


def worker():
    while not over.is_set():
        multiply(20000)


def waiter(ended):
    """Reads after the main thread, not beside it."""
    ended.wait()
    while os.read(0, 64):
        pass
    over.set()


def ended_main(wait, ended):
    """What the interpreter still shows of this thread when it is gone."""
    if wait:
        os.read(0, 64)
    ended.set()
    libc.pthread_exit(None)


def main_state():
    with open("/proc/self/stat") as file:
        return file.read().rpartition(")")[2].split()[0]


def last(threads, wait):
    """In the place of the main thread: it ends the process."""
    while not wait and main_state() != "Z":
        time.sleep(0.01)
    support.ready()
    for thread in threads:
        thread.join()
    support.finish("ended_main", [] if main_state() == "Z" else ["the main thread has not ended"])
    sys.stdout.flush()
    os._exit(0)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--wait", action="store_true")
    parser.add_argument("--word", help="to find it by")
    arguments = parser.parse_args()
    ended = threading.Event()
    threads = [threading.Thread(target=worker, name="worker"), threading.Thread(target=waiter, args=(ended,))]
    for thread in threads + [threading.Thread(target=last, args=(threads, arguments.wait))]:
        thread.start()
    ended_main(arguments.wait, ended)


main()
