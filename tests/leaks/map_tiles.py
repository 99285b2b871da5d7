# SPDX-License-Identifier: Apache-2.0
"""Serves tiles of a hiking map: draws those that are asked for and keeps the ones that were asked for last."""
import collections
import random

import service

KEPT = 400
SIDE = 200


class Tiles:
    """The last KEPT tiles, of which the one that was not asked for longest goes first."""

    def __init__(self, draw):
        self.draw = draw
        self.kept = collections.OrderedDict()
        self.drawn = 0

    def tile(self, zoom, column, row):
        place = (zoom, column, row)
        if place in self.kept:
            self.kept.move_to_end(place)
            return self.kept[place]
        tile = self.kept[place] = self.draw(zoom, column, row)
        self.drawn += 1
        if len(self.kept) > KEPT:
            self.kept.popitem(last=False)
        return tile


def draw(zoom, column, row):
    """Grey values of the slope's shade, a byte a pixel."""
    shade = bytearray()
    for y in range(0, SIDE, 4):
        height = (column * 7919 + row * 104729 + zoom * 31 + y * y) % 251
        line = bytes((height + x * (y + 3)) % 251 for x in range(0, SIDE, 8))
        shade += line * 32
    return bytes(shade)


def walk(rng, place):
    """Where a walker's screen goes next."""
    zoom, column, row = place
    if rng.random() < 0.05:
        return rng.randrange(10, 15), rng.randrange(4000), rng.randrange(4000)
    return zoom, column + rng.choice((-1, 0, 1)), row + rng.choice((-1, 0, 1))


def main():
    rng = random.Random(79)
    tiles = Tiles(draw)
    walkers = [walk(rng, (12, number * 50, number * 30)) for number in range(12)]
    served = 0
    for number in service.rounds(per_second=25):
        for place, walker in enumerate(walkers):
            walkers[place] = walk(rng, walker)
            served += len(tiles.tile(*walkers[place]))
        if number % 250 == 0:
            print("drawn %d" % tiles.drawn, flush=True)
    print("served %d bytes" % served)


if __name__ == "__main__":
    main()
