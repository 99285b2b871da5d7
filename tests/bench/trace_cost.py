#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
What a traced MPI call costs: one rank calls MPI_Barrier on MPI_COMM_SELF, 20 times a millisecond, which is below the limit
of records, and tells the time of each call; `pieprofd trace` attaches for every other second.

    sudo tests/bench/trace_cost.py [PAIRS]

Prints the median time of a call without and with, for each pair of seconds.
"""
import os
import statistics
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", "e2e")]

from harness import PIEPROFD, default_interpreter, with_packages  # noqa: E402

CALLS = 20
# Not yet, or no longer, with all probes.
EDGE_S = 0.3

RANK = """
import time
from mpi4py import MPI
world = MPI.COMM_SELF
while True:
    begin = time.perf_counter()
    for _ in range(%d):
        world.Barrier()
    end = time.perf_counter()
    print(time.monotonic(), (end - begin) / %d, flush=True)
    time.sleep(max(0, begin + 0.001 - time.perf_counter()))
""" % (CALLS, CALLS)


def read_until(rank, end):
    """The times of calls up to then, by when they were made."""
    found = []
    for line in rank.stdout:
        at, cost = map(float, line.split())
        found.append((at, cost))
        if at >= end:
            return found
    raise SystemExit("the rank has ended")


def median_us(found, begin, end):
    return 1e6 * statistics.median(cost for at, cost in found if begin <= at <= end)


def main(pairs):
    interpreter = with_packages(default_interpreter(), "mpi4py")
    with subprocess.Popen([interpreter.path, "-c", RANK], stdout=subprocess.PIPE, text=True,
                          env=dict(os.environ, **interpreter.environment)) as rank:
        differences = []
        try:
            read_until(rank, time.monotonic() + 2)
            for _ in range(pairs):
                begin = time.monotonic()
                without = median_us(read_until(rank, begin + 1), begin, begin + 1)
                begin = time.monotonic()
                with subprocess.Popen([PIEPROFD, "trace", str(rank.pid), "-d", "1", "-q"]):
                    found = read_until(rank, begin + 1)
                traced = median_us(found, begin + EDGE_S, begin + 1)
                differences.append(traced - without)
                print("without %6.2f us, with %6.2f us: %.2f us a call" % (without, traced, differences[-1]), flush=True)
                read_until(rank, time.monotonic() + 0.5)
        finally:
            rank.kill()
    print("median %.2f us, from %.2f to %.2f" % (statistics.median(differences), min(differences), max(differences)))


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 10)
