# SPDX-License-Identifier: Apache-2.0
"""Reads dive computers' memories and follows four tissues' nitrogen through each dive."""

import array
import math
import random
import struct

from common import run

HALF_TIMES = (5.0, 12.5, 27.0, 54.3)
SHARES = tuple(1 - math.exp(-math.log(2) / half / 6) for half in HALF_TIMES)  # of a ten-second step


def memory(seed):
    rnd = random.Random(seed)
    dives = []
    for dive in range(14):
        count = rnd.randint(250, 420)
        deepest = rnd.uniform(12, 38)
        samples = []
        for at in range(count):
            depth = deepest * math.sin(math.pi * at / count) ** 0.5
            samples += int(depth * 100) + at % 7, 180 - int(depth), 2000 - 4 * at
        dives.append(struct.pack("<HHI", 0xD1BE, count, seed * 100 + dive) + array.array("h", samples).tobytes())
    return b"".join(dives)


def samples_of(blob, at, count):
    depths, warmth, gas = [], [], []
    for i in range(count):
        depths.append(struct.unpack_from("<H", blob, at + 6 * i)[0])
        warmth.append(struct.unpack_from("<h", blob, at + 6 * i + 2)[0])
        gas.append(struct.unpack_from("<h", blob, at + 6 * i + 4)[0])
    return depths, warmth, gas


def samples_of_fixed(blob, at, count):
    return tuple(zip(*struct.iter_unpack("<Hhh", blob[at : at + 6 * count])))


def saturate(depths):
    tissues = [0.79] * 4
    worst = 0.0
    for depth in depths:
        breathed = 0.79 * (1 + depth / 1000)
        tissues = [held + share * (breathed - held) for held, share in zip(tissues, SHARES)]
        worst = max(worst, tissues[0], tissues[1])
    return tissues, worst


def one_pass(number, step):
    blob = memory(number)
    at = 0
    book = []
    while at < len(blob):
        mark, count, serial = struct.unpack_from("<HHI", blob, at)
        assert mark == 0xD1BE
        depths, warmth, gas = step(blob, at + 8, count)
        tissues, worst = saturate(depths)
        book.append((serial, max(depths) / 100, sum(depths) / count, min(warmth) / 10, gas[0] - gas[-1], worst, tissues))
        at += 8 + 6 * count
    return book


if __name__ == "__main__":
    run(one_pass, samples_of, samples_of_fixed)
