#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Uses the processor in ways that make a profiler lose time, or count some twice.

    cpu_patterns.py --pattern steady|threads|naps|naps_in_turn|short_threads|products|system_calls [--seconds N]
"""
import argparse
import os
import threading
import time

from support import finish, ready


def compute(rounds):
    total = 0
    for i in range(rounds):
        total += i * i & 7
    return total


def steady():
    compute(20000)


def naps():
    """Runs a fraction of a sampling period at a time."""
    compute(4000)
    time.sleep(0.0003)


def short_threads():
    """Each lives for less than a sampling period at 99 Hz."""
    threads = [threading.Thread(target=compute, args=(20000,)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def products():
    """In the threads of a BLAS library, where numpy has one with threads."""
    os.environ["OPENBLAS_NUM_THREADS"] = "2"
    import numpy

    matrix = numpy.ones((200, 200))
    for _ in range(20):
        matrix @ matrix


def system_calls():
    for _ in range(1000):
        os.stat("/")


def nap_in_turn():
    compute(1000)
    time.sleep(0.001)


def threads(seconds, step):
    end = time.monotonic() + seconds

    def work():
        while time.monotonic() < end:
            step()

    workers = [threading.Thread(target=work) for _ in range(8)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    patterns = {function.__name__: function for function in (steady, naps, short_threads, products, system_calls)}
    steps = {"threads": steady, "naps_in_turn": nap_in_turn}  # of eight threads
    parser.add_argument("--pattern", choices=[*patterns, *steps], default="steady")
    parser.add_argument("--seconds", type=float, default=10)
    arguments = parser.parse_args()
    ready()
    if arguments.pattern in steps:
        threads(arguments.seconds, steps[arguments.pattern])
    else:
        end = time.monotonic() + arguments.seconds
        while time.monotonic() < end:
            patterns[arguments.pattern]()
    finish("cpu_patterns", [], "cpu=%.3f" % time.process_time())


if __name__ == "__main__":
    main()
