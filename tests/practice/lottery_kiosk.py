# SPDX-License-Identifier: Apache-2.0
"""A lottery kiosk's evening: tickets are checked against the draw, prizes set, slips printed with the odds."""

import hashlib
import random
from fractions import Fraction
from math import comb

from common import run

BALLS, DRAWN, STARS, STARS_DRAWN = 45, 6, 10, 2
SHARES = {(6, 2): 40, (6, 1): 14, (6, 0): 9, (5, 2): 5, (5, 1): 4, (5, 0): 4, (4, 2): 4}
SHARES.update({(4, 1): 4, (3, 2): 4, (4, 0): 3, (3, 1): 3, (2, 2): 3, (1, 2): 3})


class Kiosk:
    def __init__(self, pot, balls, stars):
        self.pot = pot
        self.balls = balls
        self.stars = stars
        self.slips = []
        self.paid = {}

    def odds(self):
        """One in how many tickets wins, by class."""
        every = comb(BALLS, DRAWN) * comb(STARS, STARS_DRAWN)
        table = {}
        for right, bright in SHARES:
            good = comb(DRAWN, right) * comb(BALLS - DRAWN, DRAWN - right)
            good *= comb(STARS_DRAWN, bright) * comb(STARS - STARS_DRAWN, STARS_DRAWN - bright)
            table[right, bright] = Fraction(every, good)
        return table

    def prize(self, winning, sold):
        """The class's share of the pot for as many winners as are to be expected."""
        expected = max(Fraction(sold) / self.odds()[winning], Fraction(1, 4))
        return int(self.pot * SHARES[winning] / 100 / expected)

    def check(self, ticket, sold):
        won = 0
        for balls, stars in ticket["rows"]:
            hit = len(self.balls & balls), len(self.stars & stars)
            if hit in SHARES:
                won += self.prize(hit, sold)
                self.paid[hit] = self.paid.get(hit, 0) + 1
        return won

    def print_slip(self, ticket, won):
        odds = self.odds()
        rows = [
            " ".join("%02d" % ball for ball in sorted(balls)) + " + " + " ".join("%d" % star for star in sorted(stars))
            for balls, stars in ticket["rows"]
        ]
        text = "%s\n%s\n%s\n" % (ticket["name"], "\n".join(rows), "won %d" % won if won else "no prize")
        best = min(odds[winning] for winning in SHARES if winning[1] == len(ticket["rows"]) % 3)
        text += "best chance 1 : %d\n" % best
        self.slips.append(text + hashlib.sha256(text.encode()).hexdigest()[:16])


class KioskFixed(Kiosk):
    def __init__(self, *rest):
        super().__init__(*rest)
        self.table = super().odds()

    def odds(self):
        return self.table


def draw(rng):
    return frozenset(rng.sample(range(1, BALLS + 1), DRAWN)), frozenset(rng.sample(range(1, STARS + 1), STARS_DRAWN))


def one_pass(number, kind):
    rng = random.Random(number)
    kiosk = kind(rng.randrange(10**6, 10**8), *draw(rng))
    total = 0
    for n in range(500):
        ticket = {"name": "%d-%05d" % (number, n), "rows": [draw(rng) for _ in range(rng.randrange(1, 4))]}
        won = kiosk.check(ticket, 400_000)
        kiosk.print_slip(ticket, won)
        total += won
    return [total, sorted(kiosk.paid.items()), kiosk.slips[-2:]]


if __name__ == "__main__":
    run(one_pass, Kiosk, KioskFixed)
