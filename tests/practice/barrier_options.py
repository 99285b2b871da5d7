# SPDX-License-Identifier: Apache-2.0
"""Values options that end when the price touches a barrier, by many drawn paths, in batches until the error is small enough."""

from dataclasses import dataclass

import numpy as np

from common import run

BATCH = 500
STEPS = 40


@dataclass
class Option:
    strike: float
    barrier: float
    years: float
    call: bool

    def pay(self, last):
        gain = last - self.strike if self.call else self.strike - last
        return np.maximum(gain, 0.0)


class Market:
    def __init__(self, rng):
        self.rng = rng
        self.spot = rng.uniform(80, 120)
        self.rate = rng.uniform(0.0, 0.05)
        self.vol = rng.uniform(0.1, 0.4)

    def draws(self):
        """Half are drawn, half mirrored."""
        half = self.rng.standard_normal((BATCH, STEPS))
        return np.concatenate((half, -half))

    def paths(self, years):
        dt = years / STEPS
        drift = (self.rate - 0.5 * self.vol**2) * dt
        moves = drift + self.vol * dt**0.5 * self.draws()
        return self.spot * np.exp(np.cumsum(moves, axis=1))


class Tally:
    def __init__(self):
        self.count = 0
        self.mean = 0.0
        self.square = 0.0

    def add(self, values):
        fresh = self.count + len(values)
        gap = float(values.mean()) - self.mean
        self.square += float(values.var()) * len(values) + gap * gap * self.count * len(values) / fresh
        self.mean += gap * len(values) / fresh
        self.count = fresh

    def error(self):
        return (self.square / self.count / self.count) ** 0.5


def value(market, option, most=8):
    tally = Tally()
    touched = 0
    for _ in range(most):
        paths = market.paths(option.years)
        alive = paths.max(axis=1) < option.barrier
        touched += int(len(alive) - alive.sum())
        paid = np.where(alive, option.pay(paths[:, -1]), 0.0)
        tally.add(paid * np.exp(-market.rate * option.years))
        if tally.error() < 0.05:
            break
    return tally.mean, tally.error(), touched


def one_pass(number, step):
    rng = np.random.default_rng(number)
    market = Market(rng)
    sheet = []
    for _ in range(4):
        strike = market.spot * rng.uniform(0.9, 1.1)
        option = Option(strike, market.spot * rng.uniform(1.2, 1.5), rng.uniform(0.2, 2), bool(rng.random() < 0.7))
        sheet.append(value(market, option))
    return sheet


if __name__ == "__main__":
    run(one_pass)
