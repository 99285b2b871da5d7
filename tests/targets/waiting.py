#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Threads that wait, each for something else; two that want the GIL, one of which collects garbage.

    waiting.py [--sleepers N] [--half] [--busy]

Ends when its standard input does, and says what share of its time the thread
"half" slept, and what share of CPU time the collector had, by its own clocks.
"""
import argparse
import gc
import os
import socket
import sys
import threading
import time

from support import ready

lock = threading.Lock()
spent = {"wall": 0.0, "asleep": 0.0, "cpu": 0.0, "collecting": 0.0}


def wait_for_lock():
    lock.acquire()  # waits for a lock


def wait_for_pipe(reader=os.pipe()[0]):
    os.read(reader, 1)  # waits for input


def wait_for_socket(pair=socket.socketpair()):
    pair[0].recv(1)  # waits for input


def wait_for_time():
    time.sleep(3600)  # waits for a time


def wait_for_child(child):
    os.waitpid(child, 0)  # waits for a child


def half():
    """Sleeps half of its time, in pieces of many lengths."""
    turn = 0
    while True:
        turn = (turn + 7) % 30
        began = time.monotonic()
        while time.monotonic() - began < (turn + 1) / 1000:
            pass
        middle = time.monotonic()
        time.sleep((turn + 1) / 1000)  # sleeps
        end = time.monotonic()
        spent["wall"] += end - began
        spent["asleep"] += end - middle


def work():
    while True:
        sum(range(1000))  # works


def collect(objects):
    thread_time = time.CLOCK_THREAD_CPUTIME_ID
    while True:
        began = time.clock_gettime(thread_time)
        gc.collect()  # collects
        middle = time.clock_gettime(thread_time)
        end = middle
        while end - middle < middle - began:
            sum(range(1000))  # works as long
            end = time.clock_gettime(thread_time)
        spent["cpu"] += end - began
        spent["collecting"] += middle - began
    return objects


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sleepers", type=int, default=0)
    parser.add_argument("--half", action="store_true")
    parser.add_argument("--busy", action="store_true")
    arguments = parser.parse_args()
    lock.acquire()
    child = os.fork()
    if child == 0:
        time.sleep(3600)
    gc.disable()
    functions = [(wait_for_lock, ()), (wait_for_pipe, ()), (wait_for_socket, ()), (wait_for_time, ()),
                 (wait_for_child, (child,))]
    functions += [(wait_for_lock, ())] * arguments.sleepers
    if arguments.half:
        functions.append((half, ()))
    if arguments.busy:
        functions += [(work, ()), (collect, ([[] for _ in range(100000)],))]
    for function, words in functions:
        threading.Thread(target=function, args=words, name=function.__name__, daemon=True).start()
    time.sleep(0.5)
    ready()
    sys.stdin.read()  # waits for the end
    os.kill(child, 9)
    print("ok waiting asleep=%.4f collecting=%.4f" % (spent["asleep"] / (spent["wall"] or 1),
                                                      spent["collecting"] / (spent["cpu"] or 1)), flush=True)
    os._exit(0)


if __name__ == "__main__":
    main()
