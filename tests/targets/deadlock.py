#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Two threads that wait for each other's lock for ever, one that sleeps, one that works.

    deadlock.py [--work]

Ends when its standard input does.
"""
import argparse
import os
import sys
import threading
import time

from support import ready

first, second = threading.Lock(), threading.Lock()
both_hold_one = threading.Barrier(2)


def take_first_then_second():
    with first:
        both_hold_one.wait()
        second.acquire()  # waits for the other


def take_second_then_first():
    with second:
        both_hold_one.wait()
        first.acquire()  # waits for this one


def sleep():
    time.sleep(3600)  # sleeps


def work():
    total = 0
    while True:
        total += sum(range(100))  # works


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--work", action="store_true")
    arguments = parser.parse_args()
    functions = [take_first_then_second, take_second_then_first, sleep]
    if arguments.work:
        functions.append(work)
    for function in functions:
        threading.Thread(target=function, name=function.__name__.replace("_", " "), daemon=True).start()
    time.sleep(0.3)
    ready()
    sys.stdin.read()  # waits for the end
    print("ok deadlock", flush=True)
    os._exit(0)


if __name__ == "__main__":
    main()
