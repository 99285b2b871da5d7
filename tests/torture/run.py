#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Plays the scenarios and says what became of the targets.

    tests/torture/run.py [WORD ...] [--short] [--percent P] [--count N] [--seed N] [--write FILE]

WORD: only scenarios whose name has one of the words. --short: as in CI.
--percent: so much of the long version. --count: so many rounds each. --write: puts the table into a file
between its two markers.
"""
import argparse
import os
import platform
import sys
import time

import kill_daemon
import scenarios
from frame import write_table

HEAD = ("| scenario | rounds | while attached | deaths | left stopped or traced | EINTR | unexpected signals | "
        "debug registers kept | anything else |\n|---|---|---|---|---|---|---|---|---|\n")


def machine():
    model = "unknown processor"
    with open("/proc/cpuinfo") as file:
        for line in file:
            if line.startswith("model name"):
                model = " ".join(line.split(":", 1)[1].split())
                break
    virtual = os.path.exists("/sys/hypervisor/type") or " hypervisor" in open("/proc/cpuinfo").read()
    return "%s, %d %sprocessors, Linux %s" % (model, os.cpu_count(), "virtual " if virtual else "",
                                              ".".join(platform.release().split("-")[0].split(".")[:2]))


def row(name, result):
    return "| %s | %d | %d | %d | %d | %s | %d | %d | %s |\n" % (
        name, result.rounds, result.while_attached, result.deaths, result.left_stopped + result.left_traced,
        result.eintr, result.unexpected, result.breakpoints_taken,
        "; ".join(result.other).replace("|", "\\|").replace("\n", " ") or ("memory grew" if result.grown else "0"))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("words", nargs="*")
    parser.add_argument("--short", action="store_true")
    parser.add_argument("--percent", type=float, default=100)
    parser.add_argument("--count", type=int)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--write", metavar="FILE")
    arguments = parser.parse_args()
    began = time.monotonic()
    rows, bad = [], 0
    for name, _, short, long in scenarios.SCENARIOS:
        if arguments.words and not any(word in name for word in arguments.words):
            continue
        count = arguments.count or (short if arguments.short else max(1, round(long * arguments.percent / 100)))
        if not count:
            continue
        started = time.monotonic()
        try:
            result = scenarios.play(name, count, arguments.seed)
        except scenarios.Skip as reason:
            rows.append("| %s | skipped: %s | | | | | | | |\n" % (name, reason))
            print("%s: skipped: %s" % (name, reason), flush=True)
            continue
        rows.append(row(name, result))
        if arguments.write and result.ending:
            write_table(arguments.write, "endings", kill_daemon.table(result, result.ending))
        bad += result.bad()
        print("%s: %s (%.1f s)" % (name, result, time.monotonic() - started), flush=True)
    table = "%s. %d minutes, seed %d.\n\n%s%s" % (
        machine(), round((time.monotonic() - began) / 60), arguments.seed, HEAD, "".join(rows))
    if arguments.write:
        write_table(arguments.write, "torture", table)
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
