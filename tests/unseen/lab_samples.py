# SPDX-License-Identifier: Apache-2.0
"""A hospital's laboratory: samples come in bursts, wait by their urgency and are taken by the analysers that get free."""

import heapq
import itertools
import random
from dataclasses import dataclass, field

from runner import run

SAMPLES = 700
ANALYSERS = 3
WARDS = {"surgery": 0, "emergency": 0, "maternity": 1, "medical": 2, "outpatients": 3}
NAMES = tuple(WARDS)


@dataclass
class Sample:
    number: int
    came: float
    ward: str
    tests: list = field(default_factory=list)

    def urgency(self):
        return WARDS[self.ward], self.came


class Rack:
    """What waits, the most urgent first."""

    def __init__(self):
        self.waiting = []

    def put(self, sample):
        self.waiting.append(sample)
        self.waiting.sort(key=Sample.urgency)

    def take(self):
        return self.waiting.pop(0)

    def __len__(self):
        return len(self.waiting)


class RackFixed(Rack):
    def __init__(self):
        super().__init__()
        self.count = itertools.count()

    def put(self, sample):
        heapq.heappush(self.waiting, (*sample.urgency(), next(self.count), sample))

    def take(self):
        return heapq.heappop(self.waiting)[-1]


def arrivals(rnd):
    """The rounds of the wards bring most samples at once."""
    now = 0.0
    for number in range(SAMPLES):
        now += rnd.expovariate(12.0) if number % 180 > 20 else rnd.expovariate(0.4)
        ward = rnd.choice(NAMES)
        tests = [rnd.gauss(mean, mean / 9) for mean in rnd.sample((4.1, 140.0, 5.2, 88.0, 7.4), rnd.randrange(1, 4))]
        yield Sample(number, now, ward, tests)


class Analyser:
    def __init__(self, name):
        self.name = name
        self.free_at = 0.0
        self.drift = 1.0

    def run(self, sample, now):
        """Values corrected for the drift since the last calibration; each test takes its time."""
        results = []
        for value in sample.tests:
            self.drift *= 1.0003
            results.append("%.2f" % (value / self.drift))
        if self.drift > 1.05:
            self.drift = 1.0
        self.free_at = max(now, self.free_at) + 0.55 * len(sample.tests)
        return "%05d %s %s %s" % (sample.number, sample.ward, self.name, " ".join(results))


def day(rnd, rack):
    analysers = [Analyser("A%d" % n) for n in range(ANALYSERS)]
    waits = {ward: [] for ward in WARDS}
    sheet, longest = [], 0

    def work_until(now):
        while rack:
            analyser = min(analysers, key=lambda one: one.free_at)
            if analyser.free_at > now:
                break
            sample = rack.take()
            begin = max(analyser.free_at, sample.came)
            waits[sample.ward].append(begin - sample.came)
            sheet.append(analyser.run(sample, begin))

    for sample in arrivals(rnd):
        work_until(sample.came)
        rack.put(sample)
        longest = max(longest, len(rack))
    work_until(float("inf"))
    return longest, {ward: sum(those) / max(1, len(those)) for ward, those in waits.items()}, sheet


def one_pass(number, step):
    longest, waits, sheet = day(random.Random(number), step())
    return longest, sorted(waits.items()), sheet[:3], sheet[-1]


if __name__ == "__main__":
    run(one_pass, Rack, RackFixed)
