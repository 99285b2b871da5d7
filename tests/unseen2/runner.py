# SPDX-License-Identifier: Apache-2.0
"""The command line that every program of this folder shares.

A program hands over one function, `one_pass(number, step)`, and up to two
values for `step`: the one as written and the one with the fix. Passes are
numbered and each makes its data from its number, so no pass repeats another.
"""

import argparse
import math
import time


def same(a, b):
    if isinstance(a, (list, tuple)):
        return len(a) == len(b) and all(same(x, y) for x, y in zip(a, b))
    if isinstance(a, float):
        return math.isclose(a, float(b), rel_tol=1e-6, abs_tol=1e-9)
    return a == b


def run(one_pass, step=None, fixed_step=None):
    args = argparse.ArgumentParser()
    args.add_argument("--seconds", type=float, default=20.0)
    args.add_argument("--fixed", action="store_true")
    args.add_argument("--check", action="store_true")
    args.add_argument("--cpu", action="store_true", help="count the process's CPU seconds, not the clock's")
    args = args.parse_args()
    if fixed_step is None:
        fixed_step = step

    if args.check:
        for number in (0, 1):
            slow, fixed = one_pass(number, step), one_pass(number, fixed_step)
            assert same(slow, fixed), (number, slow, fixed)
        print("same", slow)
        return

    chosen = fixed_step if args.fixed else step
    one_pass(0, chosen)  # not counted: imports and first calls
    clock = time.process_time if args.cpu else time.perf_counter
    passes = 0
    start = clock()
    while True:
        passes += 1
        one_pass(passes, chosen)
        spent = clock() - start
        if spent >= args.seconds:
            break
    print("passes", passes)
    print("seconds_per_pass", spent / passes)
