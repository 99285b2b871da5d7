#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Where three profilers say that time goes, line by line: pieprofd by each engine, and py-spy, in turn on one process.

    tests/bench/line_times.py [--rounds N] [--seconds S] [--rate HZ] [--programs WORD,WORD] [--keep FILE]

A line's share is that of the samples, or of the CPU time, whose innermost Python frame is in it. Beside it stand differences
by round, with their 95% interval. Two profilers agree where that has 0 in it: by chance alone one line in twenty does not.
--keep adds the looks to a file, and the table is of all that it has.
"""
import argparse
import collections
import contextlib
import importlib.util
import json
import math
import os
import re
import select
import statistics
import subprocess
import sys
import tempfile

import switched
import true_cost
from extension import built, first_with_headers
from harness import PIEPROFD, TARGETS
from overhead import tools

KINDS = ("python_ns", "native_ns", "system_ns")
# Lines with less, by each of them, are left out: a few samples.
LEAST = 0.02
PROFILERS = ("kernel", "ptrace", "py-spy")
PY_SPY_FRAME = re.compile(r"\(([^()]*\.py):(\d+)\)$")


def known_mix(folder):
    """Native, interpreted and kernel work."""
    sys.path[:0] = [folder, TARGETS]
    import known_mix as extension
    # The program beside it has the extension's name.
    spec = importlib.util.spec_from_file_location("mix", os.path.join(TARGETS, "known_mix.py"))
    mix = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(mix)

    def work():
        mix.native_lines(extension)
        # A thread that py-spy stops within read(2) is given less than it asked for.
        with contextlib.suppress(OSError):
            mix.system(extension)
        mix.short_calls(extension)
        mix.one_call(extension)
        mix.called()
        mix.inlined()
    return work


PROGRAMS = {"known_mix": known_mix, "element_by_element": lambda _: true_cost.element_by_element(),
            "texts": lambda _: true_cost.texts()}


def shares(times):
    total = sum(times.values())
    return {line: value / total for line, value in times.items()} if total else {}


def of_pieprofd(path):
    with open(path, encoding="utf-8") as file:
        lines = json.load(file)["lines"]
    return {"%s:%d" % (os.path.basename(line["file"]), line["line"]): sum(line[kind] for kind in KINDS) / 1e9
            for line in lines if any(line[kind] for kind in KINDS)}


def of_py_spy(path):
    """Samples: of how long an interval, it does not say."""
    times = collections.Counter()
    with open(path, encoding="utf-8") as file:
        for line in file:
            stack, _, weight = line.rstrip("\n").rpartition(" ")
            found = [match for match in map(PY_SPY_FRAME.search, stack.split(";")) if match]
            if found:
                times["%s:%s" % (os.path.basename(found[-1].group(1)), found[-1].group(2))] += int(weight)
    return dict(times)


def profilers(programs, arguments):
    def pieprofd(engine):
        return lambda pid, path: [PIEPROFD, "--pid", pid, "-d", str(arguments.seconds), "-q", "-r", str(arguments.rate),
                                  "--mode", "time", "--engine", engine, "--max-overhead", "30", "-o", path, "--format", "json"]

    def py_spy(pid, path):
        return [os.path.join(programs, "py-spy"), "record", "-p", pid, "-d", str(int(arguments.seconds)), "-r",
                str(arguments.rate), "-f", "raw", "-o", path]

    return dict(zip(PROFILERS, ((pieprofd("kernel"), of_pieprofd), (pieprofd("ptrace"), of_pieprofd), (py_spy, of_py_spy))))


def work_silently(work):
    """
    Three lines when it works as it will, and none later: whoever reads them takes a processor from it, and to py-spy, which counts
    time that passes, most of a short pass is in that line then.
    """
    for _ in range(3):
        work()
        print("1 1", flush=True)
    while not select.select([sys.stdin], [], [], 0)[0]:
        for _ in range(20):
            work()


def measure(interpreter, program, folder, chosen, arguments):
    """Yields a list for each look: the program, the profiler, time by line."""
    command = [interpreter.path, os.path.abspath(__file__), "--worker", program, "--folder", folder]
    with switched.Worker(command, interpreter.environment) as worker:
        worker.wait_for_passes()
        for number in range(arguments.rounds):
            # Whoever comes behind another is not always the same.
            for name in reversed(list(chosen)) if number % 2 else chosen:
                make, read = chosen[name]
                with tempfile.TemporaryDirectory() as output:
                    path = os.path.join(output, "profile")
                    subprocess.run(make(str(worker.process.pid), path), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL, check=True, timeout=20 * arguments.seconds + 60)
                    yield [program, name, read(path)]


def mean_and_interval(values):
    """The mean of at least two, and half of its 95% interval by Student's t (Cornish and Fisher's approximation)."""
    freedom, z = len(values) - 1, 1.96
    t = z + (z ** 3 + z) / (4 * freedom) + (5 * z ** 5 + 16 * z ** 3 + 3 * z) / (96 * freedom ** 2)
    return statistics.mean(values), t * statistics.stdev(values) / math.sqrt(len(values))


def show(program, looks):
    """A row for each line; returns how many comparisons there were, and in how many 0 was outside."""
    found = {name: [shares(look) for _, other, look in looks if other == name] for name in PROFILERS}
    rounds = min(map(len, found.values()))
    if rounds < 2:
        return 0, 0
    means = {name: {line: statistics.mean(look.get(line, 0) for look in entries) for look in entries for line in look}
             for name, entries in found.items()}
    lines = sorted({line for entry in means.values() for line, share in entry.items() if share >= LEAST},
                   key=lambda line: -means["kernel"].get(line, 0))
    differing = 0
    for line in lines:
        cells = [program, line] + ["%.1f%%" % (100 * means[name].get(line, 0)) for name in PROFILERS]
        for one, other in (("ptrace", "kernel"), ("py-spy", "kernel")):
            middle, half = mean_and_interval([100 * (a.get(line, 0) - b.get(line, 0)) for a, b in zip(found[one], found[other])])
            differing += abs(middle) > half
            cells.append("%+.1f (%+.1f to %+.1f)" % (middle, middle - half, middle + half))
        print("| %s |" % " | ".join(cells), flush=True)
    return 2 * len(lines), differing


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=8)
    parser.add_argument("--seconds", type=float, default=5, help="length of one look")
    parser.add_argument("--rate", type=int, default=200)
    parser.add_argument("--programs", default="", help="only those with one of these words in their name")
    parser.add_argument("--keep", help="file that looks are added to, and which the tables are of")
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    parser.add_argument("--folder", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.worker:
        work_silently(PROGRAMS[arguments.worker](arguments.folder))
        return
    looks = true_cost.kept(arguments.keep)
    if arguments.rounds:
        interpreter, include = first_with_headers()
        chosen = profilers(tools(), arguments)
        print("%s; CPython %s; looks of %g s at %d Hz" % (switched.machine(), interpreter.name, arguments.seconds, arguments.rate))
        words = arguments.programs.split(",")
        with built("known_mix", include) as folder:
            for program in PROGRAMS:
                if any(word in program for word in words):
                    for look in measure(interpreter, program, folder, chosen, arguments):
                        looks.append(look)
                        true_cost.keep(arguments.keep, look)
    print("| program | line | kernel | ptrace | py-spy | ptrace - kernel, points | py-spy - kernel |")
    print("|---|---|---|---|---|---|---|")
    compared = [show(program, [look for look in looks if look[0] == program]) for program in PROGRAMS
                if any(look[0] == program for look in looks)]
    print("In %d of %d comparisons 0 is outside of the interval." % (sum(entry[1] for entry in compared),
                                                                     sum(entry[0] for entry in compared)))


if __name__ == "__main__":
    main()
