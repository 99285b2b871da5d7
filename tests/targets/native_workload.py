# SPDX-License-Identifier: Apache-2.0
"""What the native_*.py targets share: run steps in turn for some seconds, each checking itself.

They are there for their native stacks: deep ones, callbacks from C and Fortran into Python,
assembly kernels, and worker threads that never see Python.
"""
import argparse
import itertools
import os
import sys
import time

import support

SKIPPED = 77


def skip(name, reason):
    print("skip %s: %s" % (name, reason), flush=True)
    sys.exit(SKIPPED)


def run(name, steps, description):
    """steps: functions of the round's number that return whether their result was right."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--seconds", type=float, default=10)
    arguments = parser.parse_args()
    problems = []

    def do(step, number):
        if not step(number):
            problems.append("%s computed something else" % step.__name__)

    # Imports, plans and thread pools are made the first time.
    for step in steps:
        do(step, 0)
    support.ready()
    end = time.monotonic() + arguments.seconds
    for number in itertools.count(1):
        for step in steps:
            do(step, number)
        if problems or time.monotonic() >= end:
            break
    support.finish(name, problems, "rounds=%d" % number)


def use_openblas(threads):
    """Starts this program anew with OpenBLAS in place of the system's BLAS, if it is not yet."""
    import glob

    folders = glob.glob("/usr/lib/*/openblas-pthread")
    if not folders:
        return False
    paths = os.environ.get("LD_LIBRARY_PATH", "")
    if folders[0] in paths.split(":") and os.environ.get("OPENBLAS_NUM_THREADS") == str(threads):
        return True
    os.environ["LD_LIBRARY_PATH"] = (folders[0] + ":" + paths).rstrip(":")
    os.environ["OPENBLAS_NUM_THREADS"] = str(threads)
    os.execv(sys.executable, [sys.executable] + sys.argv)
    return False
