# SPDX-License-Identifier: Apache-2.0
"""Sales of one day after the other: a day's median is asked for three times, and made anew each time.

No day is like another, so that nothing is the same for long. With --fixed the median is kept.
"""
import argparse
import random
import time

import support


class Day:
    def __init__(self, rng):
        self.sales = [rng.random() for _ in range(2000)]

    def median(self):
        return sorted(self.sales)[1000]

    def spread(self):
        middle = self.median()
        return sum(abs(sale - middle) for sale in self.sales[:200])

    def report(self):
        return self.median(), self.spread(), self.median()


class KeptDay(Day):
    kept = None

    def median(self):
        if self.kept is None:
            self.kept = Day.median(self)
        return self.kept


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--fixed", action="store_true")
    arguments = parser.parse_args()
    kind = KeptDay if arguments.fixed else Day
    rng = random.Random(1)
    problems = []

    support.ready()
    days = 0
    end = time.monotonic() + arguments.seconds
    while time.monotonic() < end:
        first, _, last = kind(rng).report()
        days += 1
        if first != last or not 0.4 < first < 0.6:
            problems.append("day %d has another median" % days)
            break
    support.finish("kept_results", problems, "%d days" % days)


main()
