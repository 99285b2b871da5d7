# SPDX-License-Identifier: Apache-2.0
"""Books the day of a warehouse: goods in, picks, corrections, counts; what changes a shelf by hand goes to the audit trail."""

import inspect
import json
import random
import sys
import zlib
from collections import Counter, defaultdict

from common import run


class Trail:
    """Each entry names the method that wrote it."""

    def __init__(self):
        self.entries = Counter()
        self.check = 0

    def caller(self):
        return inspect.stack()[2].function

    def note(self, **facts):
        method = self.caller()
        self.entries[method] += 1
        text = json.dumps({"by": method, **facts}, sort_keys=True)
        self.check = zlib.crc32(text.encode(), self.check)


class FrameTrail(Trail):
    def caller(self):
        return sys._getframe(2).f_code.co_name


class Warehouse:
    def __init__(self, trail):
        self.trail = trail
        self.shelves = defaultdict(Counter)
        self.of_article = defaultdict(set)
        self.short = Counter()
        self.moves = []

    def goods_in(self, article, shelf, pieces):
        self.shelves[shelf][article] += pieces
        self.of_article[article].add(shelf)
        self.moves.append((shelf, article, pieces))

    def pick(self, order):
        """Takes each line from the fullest shelves."""
        for article, wanted in order:
            places = sorted(self.of_article[article], key=lambda shelf: (-self.shelves[shelf][article], shelf))
            for shelf in places:
                taken = min(wanted, self.shelves[shelf][article])
                self.shelves[shelf][article] -= taken
                self.moves.append((shelf, article, -taken))
                wanted -= taken
                if not wanted:
                    break
            if wanted:
                self.short[article] += wanted

    def correct(self, article, shelf, pieces, reason):
        before = self.shelves[shelf][article]
        self.shelves[shelf][article] = pieces
        self.of_article[article].add(shelf)
        self.trail.note(shelf=shelf, article=article, before=before, after=pieces, reason=reason)

    def write_off(self, shelf, reason):
        lost = sum(self.shelves[shelf].values())
        for article in self.shelves.pop(shelf, {}):
            self.of_article[article].discard(shelf)
        self.trail.note(shelf=shelf, lost=lost, reason=reason)

    def closing(self):
        turnover = Counter()
        for shelf, article, pieces in self.moves:
            turnover[article] += abs(pieces)
        held = {shelf: sum(articles.values()) for shelf, articles in sorted(self.shelves.items())}
        return turnover.most_common(5), zlib.crc32(json.dumps(held).encode())


def one_pass(number, kind):
    rnd = random.Random(number)
    articles = ["A%04d" % at for at in range(300)]
    shelves = ["%s-%02d" % (aisle, at) for aisle in "ABCDEF" for at in range(20)]
    trail = kind()
    house = Warehouse(trail)
    for _ in range(2_500):
        house.goods_in(rnd.choice(articles), rnd.choice(shelves), rnd.randint(5, 60))
    for at in range(1_200):
        house.pick([(rnd.choice(articles), rnd.randint(1, 12)) for _ in range(rnd.randint(1, 6))])
        if at % 24 == 12:
            house.correct(rnd.choice(articles), rnd.choice(shelves), rnd.randint(0, 40), rnd.choice(("counted", "found")))
        if at % 600 == 599:
            house.write_off(rnd.choice(shelves), "water")
    return house.closing(), trail.check, sorted(trail.entries.items()), sum(house.short.values())


if __name__ == "__main__":
    run(one_pass, Trail, FrameTrail)
