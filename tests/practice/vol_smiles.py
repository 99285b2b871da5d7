# SPDX-License-Identifier: Apache-2.0
"""An options desk's surface of implied volatilities: smiles by expiry move with the market, clients' requests are priced off them."""

import math
from collections import defaultdict

import numpy as np
from scipy.interpolate import CubicSpline
from scipy.special import ndtr

from common import run

EXPIRIES = (7, 30, 60, 90, 180, 365)
KNOTS = np.linspace(-0.5, 0.5, 21)
MOVES = 1 + np.arange(-6, 7) * 0.01


class Smile:
    def __init__(self, days, level, skew, bend):
        self.years = days / 365
        self.version = 0
        self.knots = level + skew * KNOTS + bend * KNOTS**2

    def shift(self, by):
        self.knots = self.knots + by
        self.version += 1


class Surface:
    def __init__(self, smiles):
        self.smiles = smiles

    def curve(self, days):
        return CubicSpline(KNOTS, self.smiles[days].knots, bc_type="natural")

    def vols(self, days, moneyness):
        return self.curve(days)(moneyness)


class SurfaceFixed(Surface):
    def __init__(self, smiles):
        super().__init__(smiles)
        self.curves = {}

    def curve(self, days):
        version = self.smiles[days].version
        known = self.curves.get(days)
        if known is None or known[0] != version:
            known = self.curves[days] = version, super().curve(days)
        return known[1]


def black(spot, strikes, years, vols):
    """Prices and deltas of calls, no interest."""
    wide = vols * math.sqrt(years)
    up = np.log(spot / strikes) / wide + wide / 2
    return spot * ndtr(up) - strikes * ndtr(up - wide), ndtr(up)


class Desk:
    def __init__(self, surface):
        self.surface = surface
        self.book = defaultdict(float)
        self.deltas = defaultdict(float)
        self.quotes = 0

    def ladder(self, spot, days, strike, size):
        """What a position is worth should the price move a little."""
        spots = spot * MOVES
        smile = self.surface.smiles[days]
        vols = self.surface.vols(days, np.log(strike / spots))
        prices, deltas = black(spots, strike, smile.years, vols)
        self.book[days] += size * prices[6]
        self.deltas[days] += size * deltas[6]
        self.quotes += 1
        return float(np.ptp(prices)) * abs(size)


def one_pass(number, surface):
    rng = np.random.default_rng(number)
    smiles = {days: Smile(days, rng.uniform(0.15, 0.35), rng.uniform(-0.2, 0), rng.uniform(0.1, 0.4)) for days in EXPIRIES}
    desk = Desk(surface(smiles))
    spot, worst = 100.0, 0.0
    for days, strike, size, move in zip(
        rng.choice(EXPIRIES, 260).tolist(), rng.uniform(80, 120, 260).tolist(), rng.normal(0, 20, 260).tolist(), rng.normal(0, 0.002, 260).tolist()
    ):
        spot *= 1 + move
        if move > 0.004:
            smiles[days].shift(-move)
        worst = max(worst, desk.ladder(spot, days, strike, size))
    return desk.quotes, worst, sorted(desk.book.items()), sorted(desk.deltas.items())


if __name__ == "__main__":
    run(one_pass, Surface, SurfaceFixed)
