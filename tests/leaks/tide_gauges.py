# SPDX-License-Identifier: Apache-2.0
"""A harbour's tide gauges: takes samples from every quay, smooths them, and raises a flood warning when needed."""
import collections
import math
import random

import service

QUAYS = ("custom house", "fish market", "dry dock", "old mole")
SAMPLES = 96
FLOOD = 5.4

arrived = collections.deque()


class Sample:
    def __init__(self, quay, second, level, raw):
        self.quay = quay
        self.second = second
        self.level = level
        self.raw = raw


class Smoother:
    def __init__(self, weight=0.2):
        self.weight = weight
        self.level = {}

    def add(self, sample):
        before = self.level.get(sample.quay, sample.level)
        self.level[sample.quay] = before + self.weight * (sample.level - before)
        return self.level[sample.quay]


def measure(quay, second, rng):
    tide = 3.0 + 2.2 * math.sin(second / 44700.0 * 2 * math.pi + QUAYS.index(quay) * 0.01)
    raw = [tide + rng.gauss(0.0, 0.08) for _ in range(SAMPLES)]
    return Sample(quay, second, sum(raw) / len(raw), raw)


def receive(second, rng):
    for quay in QUAYS:
        arrived.append(measure(quay, second, rng))


def evaluate(smoother):
    """Goes over the samples of the newest round; the older ones are in the smoother already."""
    warnings = []
    for place in range(-len(QUAYS), 0):
        sample = arrived[place]
        if smoother.add(sample) > FLOOD:
            warnings.append(sample.quay)
    return warnings


def main():
    rng = random.Random(31)
    smoother = Smoother()
    warned = collections.Counter()
    for number in service.rounds(per_second=140):
        receive(number * 10, rng)
        warned.update(evaluate(smoother))
    print("warnings %s" % dict(warned))


if __name__ == "__main__":
    main()
