# SPDX-License-Identifier: Apache-2.0
"""Lays out mosaics: shades of a stone are rendered by C into memory of its own and kept for when they are wanted again."""
import collections
import ctypes
import random

import service

libc = ctypes.CDLL(None)
libc.calloc.restype = ctypes.c_void_p
libc.calloc.argtypes = [ctypes.c_size_t, ctypes.c_size_t]
libc.free.argtypes = [ctypes.c_void_p]

SIDE = 160
KEPT = 600


class Shades:
    """The ones that were wanted last, each of SIDE by SIDE points."""

    def __init__(self):
        self.made = collections.OrderedDict()
        self.misses = 0

    def get(self, stone):
        shade = self.made.get(stone)
        if shade is not None:
            self.made.move_to_end(stone)
            return shade
        self.misses += 1
        shade = libc.calloc(SIDE, SIDE)
        ctypes.memset(shade, stone % 256, SIDE * SIDE)
        self.made[stone] = shade
        if len(self.made) > KEPT:
            libc.free(self.made.popitem(last=False)[1])
        return shade


def lay(rng, shades):
    light = 0
    for _ in range(40):
        stone = rng.randrange(900) if rng.random() < 0.07 else rng.randrange(40)
        light += ctypes.string_at(shades.get(stone), SIDE)[rng.randrange(SIDE)]
    return light


def main():
    rng = random.Random(44)
    shades = Shades()
    light = 0
    for _ in service.rounds(per_second=20):
        light += lay(rng, shades)
    print("light %d, misses %d" % (light, shades.misses))


if __name__ == "__main__":
    main()
