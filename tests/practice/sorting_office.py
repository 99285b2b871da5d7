# SPDX-License-Identifier: Apache-2.0
"""A sorting office works off the backlog of a strike: first come first served, what cannot be read is tried again."""

import hashlib
import random
from collections import deque

from common import run

BACKLOG, SHIFT = 16_000, 6_000
TOWNS = "Aken Borum Dalby Eslev Farso Hobro Jelling Kolind Lemvig Mariager Nibe Odder Ribe Skive Thisted Varde".split()


class List:
    def __init__(self, parcels):
        self.waiting = parcels

    def first(self):
        return self.waiting.pop(0)

    def again(self, parcel):
        self.waiting.insert(0, parcel)


class Deque(List):
    def __init__(self, parcels):
        self.waiting = deque(parcels)

    def first(self):
        return self.waiting.popleft()

    def again(self, parcel):
        self.waiting.appendleft(parcel)


def label_of(parcel, tries):
    """What the camera makes of a parcel's label: 24 characters, or less in poor light."""
    digest = hashlib.blake2b(b"%d/%d" % (parcel, tries), digest_size=12).hexdigest()
    return digest if tries or int(digest[:2], 16) > 9 else digest[:-3]


def weigh(label):
    grams = int(label[2:6], 16) % 20_000
    for limit, price in ((1_000, 4.5), (2_000, 5.5), (5_000, 7.7), (10_000, 10.5)):
        if grams <= limit:
            return grams, price
    return grams, 19.0


class Office:
    def __init__(self, queue):
        self.queue = queue
        self.cages = {town: [] for town in TOWNS}
        self.tried = {}
        self.sent = []
        self.takings = 0.0

    def load(self, town):
        """A full cage leaves; heavy ones stand at the bottom."""
        cage = sorted(self.cages[town], reverse=True)
        self.sent.append((town, len(cage), sum(grams for grams, _ in cage)))
        self.cages[town] = []

    def step(self):
        parcel = self.queue.first()
        tries = self.tried.get(parcel, 0)
        label = label_of(parcel, tries)
        if len(label) < 24:
            self.tried[parcel] = tries + 1
            self.queue.again(parcel)
            return
        grams, price = weigh(label)
        town = TOWNS[int(label[-2:], 16) % len(TOWNS)]
        self.takings += price
        self.cages[town].append((grams, "%s-%s" % (town[:3].upper(), label[6:14])))
        if len(self.cages[town]) == 40:
            self.load(town)


def one_pass(number, kind):
    rng = random.Random(number)
    start = number * BACKLOG + rng.randrange(1000)
    office = Office(kind(list(range(start, start + BACKLOG))))
    for _ in range(SHIFT):
        office.step()
    left = {town: len(cage) for town, cage in office.cages.items()}
    return [len(office.queue.waiting), office.sent[-3:], len(office.tried), office.takings, sorted(left.items())]


if __name__ == "__main__":
    run(one_pass, List, Deque)
