# SPDX-License-Identifier: Apache-2.0
"""Merges growers' lists of seeds into one catalogue and prices the packets."""

import csv
import io
import random
from collections import defaultdict

from common import run

GROUPS = ["beans", "kale", "beet", "gourd", "herb", "flower"]


def lists(seed):
    rnd = random.Random(seed)
    for grower in range(6):
        rows = []
        for _ in range(500):
            name = f"{rnd.choice(GROUPS)} no {rnd.randrange(400)}"
            if rnd.random() < 0.2:
                name = f'"{name}; old ""garden"" sort"'
            rows.append(f"{name};{rnd.randint(60, 99)};{rnd.uniform(0.5, 40):.2f};{rnd.randint(1, 900)}")
        yield f"grower {seed}-{grower}", "\n".join(rows)


def rows_of(text):
    for line in text.splitlines():
        yield next(csv.reader([line], delimiter=";", quotechar='"', doublequote=True))


def rows_of_fixed(text):
    return csv.reader(io.StringIO(text), delimiter=";", quotechar='"', doublequote=True)


class Catalogue:
    def __init__(self):
        self.sorts = defaultdict(list)

    def take(self, grower, rows):
        for name, sprouting, grams, packets in rows:
            price = 1.2 + float(grams) * 0.11 * int(sprouting) / 90
            self.sorts[name].append((round(price, 2), grower, int(packets)))

    def pages(self):
        for name in sorted(self.sorts):
            price, grower, packets = min(self.sorts[name])
            yield f"{name:<30}{price:>7.2f}{packets:>6} {grower}"


def one_pass(number, step):
    catalogue = Catalogue()
    for grower, text in lists(number):
        catalogue.take(grower, step(text))
    pages = list(catalogue.pages())
    return len(pages), pages[0], pages[-1]


if __name__ == "__main__":
    run(one_pass, rows_of, rows_of_fixed)
