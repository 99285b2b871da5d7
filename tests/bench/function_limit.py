#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
Whether `trace --functions` keeps --max-overhead: a program that does the same in each round is traced for some seconds, left
alone for as long, and so on, and tells the CPU time of its own for each round.

    sudo tests/bench/function_limit.py [--pairs N] [--seconds S] [--limits 2,10] [--python PATH] [heavy] [moderate]

heavy: calls a small function all the time. moderate: some 20,000 calls a second.
Prints, for each traced piece, the CPU time a round beside that of the pieces before and behind it, what the trace says that
its probes cost, and at the end the median, with the interval that holds it in 95 of 100 cases.
"""
import argparse
import json
import os
import statistics
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", "e2e")]

from harness import PIEPROFD, default_interpreter  # noqa: E402

# Until a trace has begun.
EDGE_S = 0.5

PROGRAMS = {
    "heavy": """
def small(x):
    return x
def turn():
    for i in range(40000):
        small(i)
""",
    "moderate": """
def small(x):
    for i in range(1000):
        x += i
    return x
def turn():
    for i in range(100):
        small(i)
""",
}
LOOP = """
import time
while True:
    begin = int(time.process_time() * 1e9)
    turn()
    print(int(time.monotonic() * 1e9), int(time.process_time() * 1e9) - begin, flush=True)
"""


def read_until(program, end):
    """The CPU time of rounds up to then, by when they ended."""
    found = []
    for line in program.stdout:
        at, cost = map(int, line.split())
        found.append((at / 1e9, cost))
        if at / 1e9 >= end:
            return found
    raise SystemExit("the program has ended")


def mean(found, begin, end):
    return statistics.mean(cost for at, cost in found if begin <= at <= end)


def interval(values):
    """Of the median, by ranks: 95% or a little more."""
    values, count = sorted(values), len(values)
    below = 0
    total = 2.0 ** -count
    chance = total
    while below < count // 2 and 2 * chance <= 0.05:
        below += 1
        total = total * (count - below + 1) / below
        chance += total
    return values[max(below - 1, 0)], values[min(count - below, count - 1)]


def measure(name, limit, options):
    with subprocess.Popen([options.python, "-c", PROGRAMS[name] + LOOP], stdout=subprocess.PIPE, text=True) as program:
        shares = []
        try:
            read_until(program, time.monotonic() + 1)
            begin = time.monotonic()
            before = mean(read_until(program, begin + options.seconds), begin, begin + options.seconds)
            for _ in range(options.pairs):
                begin = time.monotonic()
                with subprocess.Popen([PIEPROFD, "trace", str(program.pid), "-d", str(options.seconds), "--json", "--functions",
                                       "*", "--max-overhead", "%g%%" % limit], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                      text=True) as trace:
                    found = read_until(program, begin + EDGE_S + options.seconds)
                    said = trace.communicate()[0]
                traced = mean(found, begin + EDGE_S, begin + options.seconds)
                begin = time.monotonic()
                read_until(program, begin)
                after = mean(read_until(program, begin + options.seconds), begin, begin + options.seconds)
                functions = json.loads(said[said.index("{"):])["python_functions"]
                shares.append(2 * traced / (before + after) - 1)
                print("  alone %.3f and %.3f ms, traced %.3f ms: %+.1f%%; by its own account %.2f%%, %d hits at %.0f ns, seen %.0f%%"
                      % (before / 1e6, after / 1e6, traced / 1e6, 100 * shares[-1],
                         100 * functions["probes_ns"] / sum(cost for at, cost in found), functions["probe_hits"],
                         functions["probes_ns"] / max(functions["probe_hits"], 1),
                         100 * functions["observed_ns"] / functions["traced_ns"]), flush=True)
                before = after
        finally:
            program.kill()
    print("%s, limit %g%%: median %+.2f%%, between %+.2f%% and %+.2f%%"
          % ((name, limit, 100 * statistics.median(shares)) + tuple(100 * share for share in interval(shares))), flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--pairs", type=int, default=8)
    parser.add_argument("--seconds", type=float, default=4)
    parser.add_argument("--limits", default="2,10")
    parser.add_argument("--python", default=None)
    parser.add_argument("programs", nargs="*", default=[])
    options = parser.parse_args()
    options.python = options.python or default_interpreter().path
    for name in options.programs or PROGRAMS:
        for limit in map(float, options.limits.split(",")):
            measure(name, limit, options)


if __name__ == "__main__":
    main()
