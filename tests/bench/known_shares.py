#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
Shares that are known, and what is found of them with each engine.

    tests/bench/known_shares.py [--parts dial oracle time] [--engines auto ptrace] [--results FILE] [--write FILE]

  dial    a C extension whose redundant loads and stores are set to 0, 25, 50, 75, 100% (tests/targets/dial.c)
  oracle  one whose accesses tests/tools/oracle.c has single-stepped, ten profiles of a second
  time    a program that measures its parts by its thread's clock (tests/targets/known_mix.py)

Watched memory is followed by stops with either engine; with auto, root's time beside it is sampled by a program in the
kernel, by which --engine kernel samples it alone. So dial and oracle have auto and ptrace, and time has kernel for auto.
--results: what is measured is kept there, and what is there already is not measured again: it may be ended and go on.
--write: puts the table into a file between its markers. Wants root, gcc and headers of a Python; five minutes.
"""
import argparse
import collections
import json
import math
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "e2e"))

import test_accuracy as accuracy  # noqa: E402
import test_known_mix as known_mix  # noqa: E402
from extension import built, first_with_headers  # noqa: E402
from harness import Target, profile  # noqa: E402

PARTS, ENGINES = ("dial", "oracle", "time"), ("auto", "ptrace")
KINDS = ("load", "store")
PROFILES = 10


def interval(successes, count):
    """Wilson's, of 95%."""
    if not count:
        return 0.0, 1.0
    z, share = 1.96, successes / count
    middle = (share + z * z / (2 * count)) / (1 + z * z / count)
    half = z * math.sqrt(share * (1 - share) / count + z * z / (4 * count * count)) / (1 + z * z / count)
    return middle - half, middle + half


def row(what, truth, share, count, low=None, high=None):
    if low is None:
        low, high = interval(round(share * count), count)
    print("  %-24s truth %5.1f%%, found %5.1f%% (%.1f to %.1f) of %d" % (
        what, 100 * truth, 100 * share, 100 * low, 100 * high, count), flush=True)
    return {"what": what, "truth": truth, "share": share, "low": low, "high": high, "count": count}


def dial(interpreter, include, engine, done):
    with built("dial", include) as folder:
        for kind, percent in [(kind, percent) for kind in KINDS for percent in accuracy.PERCENTAGES][done:]:
            report = accuracy.dial_profile(interpreter, folder, kind, percent, "--engine", engine)
            counts = report["%ss" % kind]
            share, low, high = counts["share_of_reaccessed"]
            yield row("dial, %ss" % kind, percent / 100, share, counts["reaccessed"], low, high)


def oracle(interpreter, include, engine, done):
    if done:
        return
    total, found = {kind: [0, 0] for kind in KINDS}, collections.Counter()
    with built("accesses", include) as folder:
        truth = accuracy.exact_pairs(interpreter, folder)
        with Target(interpreter, "accesses.py", "--folder", folder, "--seconds", 120) as target:
            for _ in range(PROFILES):
                report, _ = profile(target.pid, "-d", 1, "-r", 997, "--max-overhead", 60, "--include", "accesses.so",
                                    "--engine", engine)
                for pair in report["pairs"]:
                    found[pair["kind"], pair["first"][-1]["function"], pair["second"][-1]["function"]] += pair["sampled"]
                for kind in KINDS:
                    total[kind][0] += report["%ss" % kind]["reaccessed"]
                    total[kind][1] += report["%ss" % kind]["redundant"]
    for kind, (reaccessed, redundant) in total.items():
        yield row("single steps, %ss" % kind, accuracy.weighed_by_time(truth, found, kind, reaccessed),
                  redundant / max(reaccessed, 1), reaccessed)


def time_of_parts(interpreter, include, engine, done):
    if done:
        return
    with built("known_mix", include) as folder:
        with Target(interpreter, "known_mix.py", "--folder", folder, "--seconds", 17) as target:
            report, _ = profile(target.pid, "-d", 16, "-r", 499, "--max-overhead", 60, "--mode", "time",
                                "--engine", "kernel" if engine == "auto" else engine)
            words = dict(word.split("=") for word in target.finish().split()[1:])
    _, times = known_mix.found_parts(report)
    truth = {part: float(words[part]) for part in times}
    for part in times:
        yield row("time, %s" % part, truth[part] / sum(truth.values()), times[part] / sum(times.values()), report["samples"])


MEASURES = dict(zip(PARTS, (dial, oracle, time_of_parts)))


def table(results):
    """A row for each thing that is known, and how far off the worst one is."""
    engines = [engine for engine in ENGINES if engine in results]
    lines = ["| | %s |\n|---|%s\n" % (" | ".join("`--engine %s`: truth, found (95%%)" % engine for engine in engines),
                                      "---|" * len(engines))]
    for part in PARTS:
        measured = [results[engine].get(part, []) for engine in engines]
        for number in range(max(map(len, measured), default=0)):
            cells = []
            for rows in measured:
                one = rows[number] if number < len(rows) else None
                cells.append("%.1f%%, %.1f%% (%.1f to %.1f) of %d" % (
                    100 * one["truth"], 100 * one["share"], 100 * one["low"], 100 * one["high"], one["count"]) if one else "")
            lines.append("| %s | %s |\n" % (next(rows for rows in measured if number < len(rows))[number]["what"],
                                            " | ".join(cells)))
    for engine in engines:
        every = [one for rows in results[engine].values() for one in rows]
        off = [abs(one["share"] - one["truth"]) for one in every]
        held = [one for one in every if one["low"] <= one["truth"] <= one["high"]]
        lines.append("\nWith `--engine %s` %d of %d are within 3 points of the truth, the worst is off by %.1f; %d intervals hold it.\n" % (
            engine, sum(one <= 0.03 for one in off), len(every), 100 * max(off), len(held)))
    return "".join(lines)


def write_table(path, words):
    with open(path) as file:
        before, begin, rest = file.read().partition("<!-- known shares -->\n")
    _, end, after = rest.partition("<!-- /known shares -->\n")
    if not end:
        sys.exit("%s has no markers" % path)
    with open(path, "w") as file:
        file.write(before + begin + words + end + after)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--parts", nargs="*", choices=PARTS, default=PARTS)
    parser.add_argument("--engines", nargs="*", choices=ENGINES, default=ENGINES)
    parser.add_argument("--results", metavar="FILE")
    parser.add_argument("--write", metavar="FILE")
    arguments = parser.parse_args()
    results = {}
    if arguments.results and os.path.exists(arguments.results):
        with open(arguments.results) as file:
            results = json.load(file)
    interpreter, include = first_with_headers()
    for part in arguments.parts:
        for engine in arguments.engines:
            print("%s, --engine %s" % (part, engine), flush=True)
            rows = results.setdefault(engine, {}).setdefault(part, [])
            for one in MEASURES[part](interpreter, include, engine, len(rows)):
                rows.append(one)
                if arguments.results:
                    with open(arguments.results, "w") as file:
                        json.dump(results, file)
    print("\n" + table(results))
    if arguments.write:
        write_table(arguments.write, table(results))


if __name__ == "__main__":
    main()
