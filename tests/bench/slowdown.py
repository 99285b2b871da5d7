#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What profiling costs the target: paired runs with and without the daemon.

    tests/bench/slowdown.py [--pairs N] [--seconds S]

Each pair is the same amount of work done twice, side by side in time: once
alone, once under `pieprofd --pid` at its default settings, in an order that
alternates. The figure is the ratio of the two times; machines are shared and
noisy, so look at the median and at the spread.
"""
import argparse
import os
import platform
import statistics
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "e2e"))

from harness import Daemon, Target, installed_interpreters  # noqa: E402

WORKLOADS = (
    ("conv_backprop.py", (), "element by element"),
    ("conv_backprop.py", ("--fixed",), "the same, mended"),
)
SETTINGS = (
    ((), "default"),
    (("--mode", "time"), "time alone"),
)


def calibrate(interpreter, script, arguments, seconds):
    """How many passes last about so long."""
    with Target(interpreter, script, *arguments, "--seconds", 2) as target:
        words = dict(word.split("=") for word in target.finish().split() if "=" in word)
    return max(1, int(int(words["passes"]) * seconds / 2))


def run(interpreter, script, arguments, passes, settings):
    """Seconds of CPU and of wall time for so many passes."""
    with Target(interpreter, script, *arguments, "--passes", passes) as target:
        began = time.monotonic()
        if settings is None:
            target.finish()
        else:
            with Daemon("--pid", target.pid, "-d", "0", "-q", *settings) as daemon:
                target.finish()
                elapsed = time.monotonic() - began
                daemon.finish()
            return elapsed
        return time.monotonic() - began


def quartiles(values):
    return statistics.quantiles(values, n=4) if len(values) > 1 else [values[0]] * 3


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=6, help="length of one run")
    arguments = parser.parse_args()

    print("%s, %s, %d processors" % (platform.system() + " " + platform.release(), platform.machine(),
                                     os.cpu_count()))
    print("| target | interpreter | settings | slowdown: median | quartiles | pairs |")
    print("|---|---|---|---|---|---|")
    for interpreter in installed_interpreters():
        for script, options, name in WORKLOADS:
            passes = calibrate(interpreter, script, options, arguments.seconds)
            for settings, settings_name in SETTINGS:
                ratios = []
                for pair in range(arguments.pairs):
                    times = {}
                    for profiled in (True, False) if pair % 2 else (False, True):
                        times[profiled] = run(interpreter, script, options, passes, settings if profiled else None)
                    ratios.append(times[True] / times[False])
                low, middle, high = quartiles(ratios)
                print("| %s | %s | %s | %.3f | %.3f to %.3f | %d |" % (
                    name, interpreter.name, settings_name, middle, low, high, len(ratios)), flush=True)


if __name__ == "__main__":
    main()
