# SPDX-License-Identifier: Apache-2.0
"""Takes in packed despatches: a line of its own for each correspondent, unpacked piece by piece as they arrive."""
import random
import zlib

import service

PIECE = 700


class Line:
    """What is under way from one correspondent."""

    def __init__(self, number):
        self.number = number
        self.unpacker = zlib.decompressobj()
        self.words = 0

    def take(self, piece):
        self.words += self.unpacker.decompress(piece).count(b" ")


class Office:
    def __init__(self):
        self.lines = []
        self.words = 0

    def open(self, number):
        line = Line(number)
        self.lines.append(line)
        return line

    def close(self, line):
        self.words += line.words
        if line.unpacker.eof:
            line.words = 0


def despatch(rng):
    letters = [rng.choice("abcdefgh") * rng.randrange(2, 9) for _ in range(900)]
    return zlib.compress(" ".join(letters).encode("ascii"), 6)


def checked(packed):
    """Whether all of it is there: unpacked once by itself, and forgotten."""
    return zlib.decompressobj().decompress(packed, 64) != b""


def main():
    rng = random.Random(71)
    office = Office()
    for number in service.rounds(per_second=20):
        for _ in range(3):
            packed = despatch(rng)
            if not checked(packed):
                continue
            line = office.open(number)
            for at in range(0, len(packed), PIECE):
                line.take(packed[at:at + PIECE])
            office.close(line)
    print("words %d" % office.words)


if __name__ == "__main__":
    main()
