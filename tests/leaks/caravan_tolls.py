# SPDX-License-Identifier: Apache-2.0
"""A toll gate on a caravan road: whoever passes is weighed and noted on top of the day's notes, which are read from there."""
import random

import service

GOODS = ("salt", "felt", "copper", "dates", "paper", "indigo")


class Gate:
    def __init__(self):
        self.top = None
        self.taken = 0

    def note(self, entry):
        self.top = (entry, self.top)

    def latest(self, count):
        note = self.top
        while note is not None and count:
            yield note[0]
            note = note[1]
            count -= 1


def toll(animals, goods, weight):
    return animals * 2 + weight // (7 if goods == "salt" else 5)


def passing(rng, number):
    animals = rng.randrange(3, 90)
    goods = rng.choice(GOODS)
    weight = animals * rng.randrange(60, 140)
    return ("caravan-%d" % number, animals, goods, weight, toll(animals, goods, weight))


def report(gate):
    """The busiest of those that came last; put together from temporaries."""
    sums = {}
    for name, animals, goods, weight, due in gate.latest(200):
        sums[goods] = sums.get(goods, 0) + due
    return max(sums, key=sums.get)


def main():
    rng = random.Random(12)
    gate = Gate()
    number = 0
    for _ in service.rounds(per_second=50):
        for _ in range(120):
            number += 1
            entry = passing(rng, number)
            gate.note(entry)
            gate.taken += entry[4]
        report(gate)
    print("taken %d" % gate.taken)


if __name__ == "__main__":
    main()
