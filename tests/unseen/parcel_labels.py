# SPDX-License-Identifier: Apache-2.0
"""Draws a depot's parcel labels pixel by pixel for a thermal printer, from an own library of letters."""

import functools
import random
import zlib

import native
from runner import run

smallkit = native.load("smallkit.c")

STREETS = ("MILL ROAD", "HIGH STREET", "OAK LANE", "STATION SQUARE", "CHURCH HILL", "KINGS PARADE")
TOWNS = ("ASHBY", "BRAMLEY", "CORBRIDGE", "DUNSTER", "ELMSWELL", "FROME", "GLENFIELD")
WIDE, MARGIN = 420, 8


def draw(letter, size, weight):
    return smallkit.glyph(letter, size, weight)


class Label:
    def __init__(self, weight, pen):
        self.weight = weight
        self.pen = pen
        self.rows = []

    def space(self, height):
        self.rows.extend(bytes(WIDE) for _ in range(height))

    def line(self, text, size):
        letters = [bytes(size * size) if c == " " else self.pen(c, size, self.weight) for c in text]
        room = WIDE - MARGIN - len(letters) * (size + 1)
        for y in range(size):
            at = slice(y * size, (y + 1) * size)
            row = b"\0".join(letter[at] for letter in letters)
            self.rows.append((bytes(MARGIN) + row + bytes(max(room, 0)))[:WIDE])
        self.space(size // 4)

    def bars(self, code):
        row = bytes(MARGIN)
        for digit in code:
            wide = 1 + int(digit) % 4
            row += b"\xff" * wide + bytes(6 - wide)
        self.rows.extend([row.ljust(WIDE, b"\0")[:WIDE]] * 30)

    def packed(self):
        return zlib.compress(b"".join(self.rows), 6)


def address(rng):
    yield "%s %s" % (rng.choice("ABCDEFGH"), rng.choice(TOWNS)), 14
    yield "%d %s" % (rng.randint(1, 99), rng.choice(STREETS)), 14
    yield "%s %d" % (rng.choice(TOWNS), rng.randint(10_000, 99_999)), 20


def one_pass(number, pen):
    rng = random.Random(number)
    weight = 0.06 + (number % 997) * 1e-5
    pen = pen()
    sizes, sums = 0, []
    for _ in range(70):
        label = Label(weight, pen)
        label.space(MARGIN)
        for text, size in address(rng):
            label.line(text, size)
        label.bars("%016d" % rng.randrange(10**16))
        data = label.packed()
        sizes += len(data)
        sums.append(zlib.crc32(data))
    return sizes, sums


if __name__ == "__main__":
    run(one_pass, lambda: draw, lambda: functools.lru_cache(maxsize=None)(draw))
