# SPDX-License-Identifier: Apache-2.0
"""A laboratory's enzyme assays: each plate's wells give rates at rising doses; a curve is fitted to each and judged."""

import numpy as np
from scipy import optimize

from runner import run

DOSES = np.array([0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0])


def rate(dose, top, half, slope, leak):
    power = dose**slope
    return top * power / (half**slope + power) + leak * dose


class Well:
    def __init__(self, code, readings):
        self.code = code
        self.readings = readings
        self.top = self.half = self.slope = self.leak = np.nan
        self.rest = np.inf

    def guess(self):
        top = float(self.readings.max())
        near = int(np.abs(self.readings - top / 2).argmin())
        return np.array([top, DOSES[near], 1.0, 0.1])

    def residual(self, shape):
        return rate(DOSES, *shape) - self.readings

    def fit(self):
        found = optimize.least_squares(self.residual, self.guess(), bounds=([0, 1e-3, 0.3, 0], [np.inf, 100.0, 4.0, 5.0]), x_scale="jac")
        self.top, self.half, self.slope, self.leak = found.x
        self.rest = float(np.sqrt(2 * found.cost / len(DOSES)))

    def dose_for(self, share):
        """The dose with this share of the top, by the fitted curve."""
        wanted = share * self.top
        return optimize.brentq(lambda log: rate(np.exp(log), self.top, self.half, self.slope, self.leak) - wanted, -14.0, 14.0)

    @property
    def good(self):
        return self.rest < 0.06 * self.top and DOSES[0] < self.half < DOSES[-1]


class Plate:
    def __init__(self, rng, number):
        self.number = number
        self.drift = rng.uniform(-0.02, 0.02)
        self.wells = [Well("%d-%s%d" % (number, row, column), self.measure(rng)) for row in "ABC" for column in range(1, 5)]

    def measure(self, rng):
        true = rate(DOSES, rng.uniform(20, 90), rng.lognormal(0, 0.8), rng.uniform(0.7, 2.2), rng.uniform(0, 0.5))
        return true * (1 + self.drift + rng.normal(0, 0.03, len(DOSES))) + rng.normal(0, 0.4, len(DOSES))

    def evaluate(self):
        for well in self.wells:
            well.fit()
        return [well for well in self.wells if well.good]


def one_pass(number, step):
    rng = np.random.default_rng(number)
    plate = Plate(rng, number)
    good = plate.evaluate()
    doses = {share: [well.dose_for(share) for well in good] for share in (0.1, 0.5, 0.9)}
    spans = [high - low for low, high in zip(doses[0.1], doses[0.9])]
    return len(good), float(np.median(spans)), float(np.median(doses[0.5])), [well.code for well in good[:3]]


if __name__ == "__main__":
    run(one_pass)
