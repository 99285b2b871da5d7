# SPDX-License-Identifier: Apache-2.0
"""A laser cutter's queue: job files are read, moves followed, time and gas counted, and the sheets' cuts checked against the bed."""

import math
import random
import shlex
from dataclasses import dataclass, field

from common import run

BED = (610.0, 380.0)
GAS = {"air": 0.0, "nitrogen": 0.42, "oxygen": 0.31}


def job_text(rnd):
    lines = ["sheet t=%.1f gas=%s" % (rnd.choice((1.0, 1.5, 2.0, 3.0)), rnd.choice(list(GAS)))]
    for _ in range(rnd.randint(30, 60)):
        x, y = rnd.uniform(20, 590), rnd.uniform(20, 360)
        lines.append("move x=%.3f y=%.3f" % (x, y))
        for _ in range(rnd.randint(2, 6)):
            x, y = x + rnd.uniform(-15, 15), y + rnd.uniform(-15, 15)
            lines.append("cut x=%.3f y=%.3f f=%d s=%d" % (x, y, rnd.randint(8, 40) * 100, rnd.randint(40, 100)))
        if rnd.random() < 0.2:
            lines.append("wait ms=%d" % rnd.randint(50, 800))
    return "\n".join(lines)


def words(line):
    return shlex.split(line)


def words_fixed(line):
    return line.split()


@dataclass
class Sheet:
    thick: float = 1.0
    gas: str = "air"
    at: tuple = (0.0, 0.0)
    cut: float = 0.0
    seconds: float = 0.0
    litres: float = 0.0
    box: list = field(default_factory=lambda: [math.inf, math.inf, -math.inf, -math.inf])
    faults: list = field(default_factory=list)

    def go(self, x, y, feed):
        length = math.dist(self.at, (x, y))
        self.at = x, y
        self.seconds += 60 * length / feed + 0.02
        if not (0 <= x <= BED[0] and 0 <= y <= BED[1]):
            self.faults.append("off the bed at %.1f, %.1f" % (x, y))
        return length

    def sheet(self, t, gas):
        self.thick, self.gas = float(t), gas

    def move(self, x, y):
        self.go(float(x), float(y), 12_000)

    def cut_to(self, x, y, feed, strength):
        before = self.seconds
        length = self.go(x, y, feed)
        self.cut += length
        self.litres += GAS[self.gas] * (self.seconds - before) * strength / 100
        if feed * self.thick > 6_500 * strength / 100:
            self.faults.append("too fast for %.1f mm: f=%d" % (self.thick, feed))
        low_x, low_y, high_x, high_y = self.box
        self.box = [min(low_x, x), min(low_y, y), max(high_x, x), max(high_y, y)]


class Reader:
    def __init__(self, words):
        self.words = words

    def settings(self, pairs):
        return dict(pair.split("=", 1) for pair in pairs)

    def read(self, text):
        sheet = Sheet()
        for line in text.splitlines():
            verb, *pairs = self.words(line)
            given = self.settings(pairs)
            if verb == "cut":
                sheet.cut_to(float(given["x"]), float(given["y"]), int(given["f"]), int(given["s"]))
            elif verb == "move":
                sheet.move(**given)
            elif verb == "sheet":
                sheet.sheet(**given)
            else:
                sheet.seconds += int(given["ms"]) / 1000
        return sheet


def one_pass(number, words):
    rnd = random.Random(number)
    reader = Reader(words)
    sheets = [reader.read(job_text(rnd)) for _ in range(6)]
    longest = max(sheets, key=lambda sheet: sheet.seconds)
    faults = [fault for sheet in sheets for fault in sheet.faults]
    return longest.seconds, sum(sheet.litres for sheet in sheets), sum(sheet.cut for sheet in sheets), longest.box, len(faults), faults[:2]


if __name__ == "__main__":
    run(one_pass, words, words_fixed)
