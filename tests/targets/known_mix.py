#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A mix of native, interpreted and kernel work whose parts are measured by the thread's own clock.

    known_mix.py --folder WHERE-known_mix.so-IS [--seconds N]

Says at the end how many seconds of CPU time each part took: those of native_lines and system by C around the work
itself, the others by Python around the function.
"""
import argparse
import sys
import time

from support import ready

MASK = (1 << 61) - 1
UNIT = 60000  # rounds of a multiplication: some 0.1 ms


def native_lines(known_mix):
    known_mix.spin(1, UNIT)
    known_mix.spin(2, 2 * UNIT)
    known_mix.spin(3, 4 * UNIT)


def short_calls(known_mix):
    spin = known_mix.spin_unmeasured
    for _ in range(2000):
        spin(60)


def one_call(known_mix):
    known_mix.spin_unmeasured(2000 * 60)


def system(known_mix):
    known_mix.read_zeros(4, 6)


def step(total, i):
    return (total * 31 + i) & MASK


def called():
    total = 1
    for i in range(3000):
        total = step(total, i)
    return total


def inlined():
    total = 1
    for i in range(3000):
        total = (total * 31 + i) & MASK
    return total


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", required=True)
    parser.add_argument("--seconds", type=float, default=10)
    arguments = parser.parse_args()
    sys.path.insert(0, arguments.folder)
    import known_mix

    parts = ((short_calls, known_mix), (one_call, known_mix), (called,), (inlined,))
    cpu = dict.fromkeys((function.__name__ for function, *_ in parts), 0.0)
    results = {}
    wrong = 0
    ready()
    end = time.monotonic() + arguments.seconds
    while time.monotonic() < end:
        native_lines(known_mix)
        system(known_mix)
        for function, *operands in parts:
            began = time.thread_time()
            results[function] = function(*operands)
            cpu[function.__name__] += time.thread_time() - began
        wrong += results[called] != results[inlined]
    for number, name in ((1, "line_1"), (2, "line_2"), (3, "line_3"), (4, "system")):
        cpu[name] = known_mix.measured(number) / 1e9
    if wrong:
        print("wrong known_mix: %d" % wrong, flush=True)
        sys.exit(1)
    print("ok " + " ".join("%s=%.6f" % item for item in cpu.items()), flush=True)


if __name__ == "__main__":
    main()
