# SPDX-License-Identifier: Apache-2.0
"""Care leaflets for a plant nursery's labels, printed for narrow and wide paper."""

import random
import textwrap
from functools import lru_cache

from common import run

WIDTHS = (28, 40, 58)
BARS = ("||  .", ".|  |", "| | .", " ||. ", "..||.")
LATIN = "folia humilis radix flora alba minor sylva campestris prata rubra montana vulgaris arida palustris".split()


def make_care(rng, kinds):
    words = LATIN + ["keep", "soil", "moist", "never", "water", "from", "above", "until", "first", "frost", "mulch"]
    return {
        kind: ". ".join(" ".join(rng.choices(words, k=rng.randrange(5, 14))).capitalize() for _ in range(4)) + "."
        for kind in kinds
    }


class Press:
    def __init__(self, care, fill):
        self.care = care
        self.fill = fill
        self.sheets = []

    def head(self, order, width):
        name = "%s %s" % (order["genus"].title(), order["species"])
        return [name.center(width), ("no. %d, %d cm" % (order["serial"], order["height"])).center(width), "-" * width]

    def calendar(self, order, width):
        lines, line = [], ""
        for number, letter in enumerate("JFMAMJJASOND"):
            month = ("*" if order["flowers"] >> number & 1 else ".") + letter
            if len(line) + 3 > width // 2:
                lines.append(line)
                line = ""
            line += month + " "
        return [text.rstrip().center(width) for text in [*lines, line]]

    def bars(self, order):
        """The serial number as an interleaved two of five, with its check digit."""
        digits = "%09d" % order["serial"]
        digits += str(-sum(int(digit) * (3 - 2 * (k % 2)) for k, digit in enumerate(digits)) % 10)
        shapes = [BARS[int(digit) // 2] + "! "[int(digit) % 2] for digit in digits]
        return ["".join(shapes[:5]), "".join(shapes[5:])]

    def leaflet(self, order):
        width = order["width"]
        lines = self.head(order, width)
        lines += self.fill(self.care[order["kind"]], width)
        lines += self.calendar(order, width)
        lines += [text.center(width) for text in self.bars(order)]
        lines += [text.rjust(width) for text in order["note"].upper().split("/")]
        return ["|%-*s|" % (width, line) for line in lines]

    def print(self, orders):
        for order in orders:
            self.sheets.append("\n".join(self.leaflet(order)))


def fill_text(text, width):
    return textwrap.wrap(text, width, initial_indent=" * ", subsequent_indent="   ")


def make_orders(rng, kinds, count):
    for _ in range(count):
        yield {
            "serial": rng.randrange(10**9),
            "kind": rng.choice(kinds),
            "genus": rng.choice(LATIN),
            "species": rng.choice(LATIN),
            "height": rng.randrange(10, 180),
            "flowers": rng.getrandbits(12),
            "width": rng.choice(WIDTHS),
            "note": "/".join(rng.choices(LATIN, k=12)),
        }


def one_pass(number, make_fill):
    rng = random.Random(number)
    kinds = ["rose", "fern", "heath", "sedge", "lily", "apple"]
    press = Press(make_care(rng, kinds), make_fill())
    press.print(make_orders(rng, kinds, 150))
    return [len(press.sheets), sum(map(len, press.sheets)), press.sheets[-1]]


if __name__ == "__main__":
    run(one_pass, lambda: fill_text, lambda: lru_cache(maxsize=64)(fill_text))
