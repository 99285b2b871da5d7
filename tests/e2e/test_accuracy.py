# SPDX-License-Identifier: Apache-2.0
"""Sampled shares of redundant accesses against the truth."""
import contextlib
import os
import shutil
import subprocess
import tempfile

from harness import TARGETS, Skip, Target, check, find_interpreters, profile

PERCENTAGES = (0, 25, 50, 75, 100)


def first_with_headers():
    """An interpreter and where its Python.h is."""
    program = "import sysconfig; print(sysconfig.get_path('include'))"
    for interpreter in find_interpreters():
        run = subprocess.run([interpreter.path, "-c", program], capture_output=True, text=True, check=False)
        if os.path.exists(os.path.join(run.stdout.strip(), "Python.h")):
            return interpreter, run.stdout.strip()
    raise Skip("no interpreter with headers")


@contextlib.contextmanager
def built_dial(include):
    folder = tempfile.mkdtemp(prefix="pieprofd-dial-")
    try:
        subprocess.run(["cc", "-O2", "-fno-tree-vectorize", "-shared", "-fPIC", "-I", include, "-o",
                        os.path.join(folder, "dial.so"), os.path.join(TARGETS, "dial.c")], check=True)
        yield folder
    finally:
        shutil.rmtree(folder)


def check_dial(kind, function):
    interpreter, include = first_with_headers()
    covered = runs = 0
    with built_dial(include) as folder:
        for percent in PERCENTAGES:
            with Target(interpreter, "dial.py", "--folder", folder, "--kind", kind, "--percent", percent,
                        "--seconds", 60) as target:
                # Far more overhead than anybody would allow, for as many verdicts as it takes.
                report, _ = profile(target.pid, "-d", 5, "-r", 499, "--max-overhead", 60, "--%ss" % kind,
                                    "--include", "dial.so")
            pairs = [pair for pair in report["pairs"] if any(frame["function"] == function for frame in pair["first"])]
            counts = report["%ss" % kind]
            check(counts["reaccessed"] >= 150, "only %d verdicts; lost: %s" % (counts["reaccessed"], report["losses"]))
            share, low, high = counts["share_of_reaccessed"]
            check(abs(share - percent / 100) < 0.1, "%d%%: found %.3f of %d" % (percent, share, counts["reaccessed"]))
            check(pairs or percent == 0, "no pair of %s" % function)
            runs += 1
            covered += low <= percent / 100 <= high
            print("  %s %3d%%: %5.1f%% (%.1f to %.1f%%) of %d" % (
                kind, percent, 100 * share, 100 * low, 100 * high, counts["reaccessed"]))
    check(covered >= runs - 1, "the interval holds the truth in %d of %d runs" % (covered, runs))


def test_dial_loads():
    check_dial("load", "read_all")


def test_dial_stores():
    check_dial("store", "write_all")
