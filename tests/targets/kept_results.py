# SPDX-License-Identifier: Apache-2.0
"""Sales of one day after the other: a day's median is asked for three times, and made anew each time.

No day is like another, so that nothing is the same for long. With --fixed the median is kept.
"""
import round_runner


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


def sell(rng, fixed, number):
    first, _, last = (KeptDay if fixed else Day)(rng).report()
    return None if first == last and 0.4 < first < 0.6 else "another median"


round_runner.run("kept_results", __doc__, sell)
