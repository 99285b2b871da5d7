#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Three functions whose CPU time is known: in the kernel, in many short system calls, in the interpreter.

    system_calls.py [--seconds N]

Says at the end how much CPU time each took by the thread's own clock.
"""
import argparse
import os
import time

from support import ready


def one_long_call(device):
    for _ in range(4):
        device.read(1 << 21)


def many_short_calls():
    for _ in range(400):
        os.stat("/")


def interpreter():
    total = 0
    for i in range(12000):
        total += i * i
    return total


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=10)
    arguments = parser.parse_args()
    cpu = {"one_long_call": 0.0, "many_short_calls": 0.0, "interpreter": 0.0}
    with open("/dev/zero", "rb", buffering=0) as device:
        ready()
        end = time.monotonic() + arguments.seconds
        while time.monotonic() < end:
            began = time.thread_time()
            one_long_call(device)
            read = time.thread_time()
            many_short_calls()
            called = time.thread_time()
            interpreter()
            cpu["one_long_call"] += read - began
            cpu["many_short_calls"] += called - read
            cpu["interpreter"] += time.thread_time() - called
    print("ok " + " ".join("%s=%.3f" % item for item in cpu.items()), flush=True)


if __name__ == "__main__":
    main()
