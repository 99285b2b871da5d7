# SPDX-License-Identifier: Apache-2.0
"""Counts the words of ships' logs: lines are split, words interned, and the commonest of each watch are told."""
import collections
import random
import sys

import service

STEMS = ("sail", "reef", "tack", "bear", "haul", "wind", "gale", "swell", "fog", "shoal", "buoy", "keel", "helm")
VOCABULARY = 60000
WATCH = 200


class Lines:
    """A log keeper's lines: a bounded vocabulary, used freely."""

    def __init__(self, rng):
        self.rng = rng

    def word(self):
        number = self.rng.randrange(VOCABULARY)
        return "%s-%s-%05d" % (STEMS[number % len(STEMS)], STEMS[number // 7 % len(STEMS)], number)

    def line(self):
        return " ".join(self.word() for _ in range(40))


class Counter:
    def __init__(self):
        self.times = collections.Counter()
        self.total = 0

    def add(self, line):
        for word in line.split():
            self.times[sys.intern(word)] += 1
            self.total += 1

    def commonest(self):
        return self.times.most_common(3)


def main():
    lines, counter = Lines(random.Random(107)), Counter()
    told = []
    for number in service.rounds(per_second=50):
        for _ in range(3):
            counter.add(lines.line())
        if number % WATCH == WATCH - 1:
            told = counter.commonest()
    print("words %d of %d, commonest %s" % (len(counter.times), counter.total, told))


if __name__ == "__main__":
    main()
