# SPDX-License-Identifier: Apache-2.0
"""Departure boards at tram stops: rows of letters are drawn into a picture of four bytes a dot, which goes out in planes of one colour."""

import random
import struct
import zlib

from common import run

WIDE, HIGH = 96, 32
AREA = WIDE * HIGH
LINES = {"1": (250, 40, 40), "4": (30, 160, 60), "7": (40, 80, 240), "11": (240, 180, 20)}
PLACES = ["Harbour", "Old Mill", "Castle", "Stadium", "Zoo", "Airport", "North Gate", "Mint"]


def glyphs():
    """A coarse font: five columns of seven bits for every sign."""
    rnd = random.Random(77)
    return {chr(code): [rnd.getrandbits(7) for _ in range(5)] for code in range(32, 127)}


FONT = glyphs()


class Canvas:
    def __init__(self, background):
        self.dots = bytearray(bytes((*background, 255)) * AREA)

    def text(self, left, top, words, colour):
        ink = bytes((*colour, 255))
        for sign in words:
            for column, bits in enumerate(FONT[sign]):
                across = left + column
                if across >= WIDE:
                    return
                while bits:
                    low = bits & -bits
                    at = 4 * ((top + low.bit_length() - 1) * WIDE + across)
                    self.dots[at : at + 4] = ink
                    bits ^= low
            left += 6

    def bar(self, top, colour):
        self.dots[4 * top * WIDE : 4 * (top + 1) * WIDE] = bytes((*colour, 255)) * WIDE


class Board:
    def __init__(self, stop):
        self.stop = stop
        self.sent = [0, 0, 0]

    def planes(self, dots):
        """The picture's three colours, each for itself, without the fourth byte."""
        red, green, blue = bytearray(AREA), bytearray(AREA), bytearray(AREA)
        for dot in range(AREA):
            red[dot] = dots[4 * dot]
            green[dot] = dots[4 * dot + 1]
            blue[dot] = dots[4 * dot + 2]
        return red, green, blue

    def frames(self, dots):
        for number, plane in enumerate(self.planes(dots)):
            check = zlib.crc32(plane)
            if check != self.sent[number]:
                self.sent[number] = check
                packed = zlib.compress(plane, 6)
                yield struct.pack(">HBHI", self.stop, number, len(packed), check) + packed


class BoardFix(Board):
    def planes(self, dots):
        return dots[0::4], dots[1::4], dots[2::4]


def departures(rnd, count):
    minute, lines = 0, list(LINES)
    for _ in range(count):
        minute += rnd.randint(0, 6)
        yield rnd.choice(lines), rnd.choice(PLACES), minute


def draw(rows):
    canvas = Canvas((12, 12, 16))
    for top, (line, place, minute) in zip(range(0, HIGH - 7, 8), rows):
        canvas.text(0, top, line, LINES[line])
        canvas.text(14, top, place[:10], (230, 230, 210))
        canvas.text(78, top, f"{minute:>2}'" if minute else "now", (255, 190, 60))
        canvas.bar(top + 7, (40, 40, 48))
    return canvas.dots


def one_pass(number, board_of):
    rnd = random.Random(number)
    sizes, checks = 0, []
    for stop in range(12):
        board = board_of(stop)
        for _ in range(2):
            rows = list(departures(rnd, 4))
            for frame in board.frames(draw(rows)):
                sizes += len(frame)
                checks.append(frame[5:9].hex())
    return sizes, len(checks), checks[-1]


if __name__ == "__main__":
    run(one_pass, Board, BoardFix)
