# SPDX-License-Identifier: Apache-2.0
"""Lays bore holes of a survey side by side, metre by metre, from a store that keeps each hole's samples packed."""

import random
import struct
import zlib

from common import run

SAMPLE = struct.Struct("<Hhhhf")
HOLES = 9
METRES = 160
ROCKS = ("clay", "marl", "chalk", "sand", "greensand", "shale")


class Store:
    def __init__(self):
        self.packed = {}

    def put(self, hole, samples):
        plain = b"".join(SAMPLE.pack(*sample) for sample in samples)
        self.packed[hole] = zlib.compress(plain, 6)

    def plain(self, hole):
        return zlib.decompress(self.packed[hole])

    def sample(self, hole, metre):
        return SAMPLE.unpack_from(self.plain(hole), metre * SAMPLE.size)

    def size(self):
        return sum(map(len, self.packed.values()))


class StoreFixed(Store):
    def __init__(self):
        super().__init__()
        self.opened = {}

    def plain(self, hole):
        if hole not in self.opened:
            self.opened[hole] = zlib.decompress(self.packed[hole])
        return self.opened[hole]


def bore(seed, hole):
    rnd = random.Random(100 * seed + hole)
    rock, left = rnd.randrange(len(ROCKS)), 0
    for _ in range(METRES):
        if not left:
            rock, left = (rock + rnd.randrange(1, 3)) % len(ROCKS), rnd.randrange(4, 25)
        left -= 1
        yield rock, rnd.randrange(90), rnd.randrange(-20, 20), rnd.randrange(400), rnd.uniform(1.6, 2.7)


def section(store):
    """For each metre: the commonest rock, how many holes agree on it, and the mean density."""
    for metre in range(METRES):
        votes, density, moist = [0] * len(ROCKS), 0.0, 0
        for hole in range(HOLES):
            rock, water, _, _, heavy = store.sample(hole, metre)
            votes[rock] += 1
            density += heavy
            moist = max(moist, water)
        most = max(votes)
        yield ROCKS[votes.index(most)], most, round(density / HOLES, 4), moist


def bands(rows):
    found = []
    for metre, (rock, agree, _, _) in enumerate(rows):
        if agree < 3:
            continue
        if found and found[-1][0] == rock:
            found[-1][2] = metre
        else:
            found.append([rock, metre, metre])
    return [tuple(band) for band in found if band[2] - band[1] > 2]


def one_pass(number, step):
    store = step()
    for hole in range(HOLES):
        store.put(hole, bore(number, hole))
    rows = list(section(store))
    return bands(rows)[:4], rows[40], max(row[3] for row in rows), store.size()


if __name__ == "__main__":
    run(one_pass, Store, StoreFixed)
