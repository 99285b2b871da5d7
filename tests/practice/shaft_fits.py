# SPDX-License-Identifier: Apache-2.0
"""A turner's shop pairs shafts with bores: what share of a lot will fit, be loose or jam, and which lots go to the grinder."""

import math
import random
from dataclasses import dataclass, field

from scipy import special, stats

from common import run

FITS = {"slide": (0.010, 0.041), "run": (0.025, 0.066), "press": (-0.035, -0.002), "keep": (-0.015, 0.019)}


@dataclass
class Lot:
    name: str
    nominal: float
    mean: float
    spread: float
    pieces: int


@dataclass
class Plan:
    orders: int = 0
    ground: list = field(default_factory=list)
    scrap: float = 0.0
    best: dict = field(default_factory=dict)


def measured(rnd, name, nominal, shift):
    """A lot by its sample of two hundred pieces, the worst five at either end left out."""
    sample = sorted(rnd.gauss(nominal + shift, 0.006) for _ in range(200))[5:-5]
    mean = math.fsum(sample) / len(sample)
    spread = math.sqrt(math.fsum((value - mean) ** 2 for value in sample) / (len(sample) - 1))
    return Lot(name, nominal, mean, spread, rnd.randint(20, 400))


def below(limit, mean, spread):
    return float(stats.norm.cdf(limit, mean, spread))


def below_fixed(limit, mean, spread):
    return float(special.ndtr((limit - mean) / spread))


class Shop:
    def __init__(self, below):
        self.below = below
        self.plan = Plan()

    def shares(self, shaft, bore, kind):
        """(jams, fits, is loose) of pairs drawn at random from the two lots."""
        low, high = FITS[kind]
        play = bore.mean - shaft.mean
        spread = math.hypot(bore.spread, shaft.spread)
        jams = self.below(low, play, spread)
        fits = self.below(high, play, spread) - jams
        return jams, fits, 1.0 - jams - fits

    def rank(self, shaft, bores, kind):
        rows = []
        for bore in bores:
            jams, fits, loose = self.shares(shaft, bore, kind)
            pairs = min(shaft.pieces, bore.pieces)
            cost = pairs * (jams * 4.20 + loose * 11.50) + 0.35 * abs(shaft.pieces - bore.pieces)
            rows.append((cost, bore.name, fits, jams, pairs))
        rows.sort()
        return rows

    def order(self, shaft, bores, kind):
        self.plan.orders += 1
        cost, name, fits, jams, pairs = self.rank(shaft, bores, kind)[0]
        if fits < 0.6 and jams > 0.25:
            self.plan.ground.append(shaft.name)
        self.plan.scrap += (1.0 - fits) * pairs
        self.plan.best[shaft.name] = (name, round(fits, 6), round(cost, 4))


def report(plan):
    lines = ["%-8s %-8s %7.2f %% %9.2f" % (shaft, bore, 100 * fits, cost) for shaft, (bore, fits, cost) in sorted(plan.best.items())]
    return lines[:2] + ["%d to grind, %.2f scrap" % (len(plan.ground), plan.scrap)]


def one_pass(number, below):
    rnd = random.Random(number)
    shop = Shop(below)
    for week in range(6):
        nominal = rnd.choice((12.0, 16.0, 20.0, 25.0))
        bores = [measured(rnd, "B%d%02d" % (week, at), nominal, rnd.gauss(0.02, 0.01)) for at in range(6)]
        for at in range(10):
            shaft = measured(rnd, "S%d%02d" % (week, at), nominal, rnd.gauss(0.0, 0.012))
            shop.order(shaft, bores, rnd.choice(list(FITS)))
    return report(shop.plan), shop.plan.scrap, shop.plan.orders


if __name__ == "__main__":
    run(one_pass, below, below_fixed)
