# SPDX-License-Identifier: Apache-2.0
"""Days of prices, one after the other: the best price so far is looked for among all of the day's until then.

Each day begins anew, so that what is gone over has any length. With --fixed the best is kept.
"""
import argparse
import random
import time

import support


def best_so_far(prices):
    seen, best = [], []
    for price in prices:
        seen.append(price)
        best.append(max(seen))
    return best


def best_kept(prices):
    best = []
    for price in prices:
        best.append(max(price, best[-1]) if best else price)
    return best


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--fixed", action="store_true")
    arguments = parser.parse_args()
    find = best_kept if arguments.fixed else best_so_far
    rng = random.Random(1)
    problems = []

    support.ready()
    days = 0
    end = time.monotonic() + arguments.seconds
    while time.monotonic() < end:
        prices = [rng.random() for _ in range(1500)]
        if find(prices)[-1] != sorted(prices * 20)[-1]:
            problems.append("day %d has another best price" % days)
            break
        days += 1
    support.finish("running_best", problems, "%d days" % days)


main()
