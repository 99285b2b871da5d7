# SPDX-License-Identifier: Apache-2.0
"""Salt of a lagoon behind a bar: river and tide are exchanged through four basins, and an adaptive solver takes them through a fortnight."""

import numpy as np
from scipy.integrate import solve_ivp
from scipy.interpolate import PchipInterpolator

from common import run

BASINS = 4
HOURS = 60.0
SEA_SALT = 35.0


class Gauge:
    """What the weir up the river has noted, at uneven hours."""

    def __init__(self, rng):
        gaps = rng.uniform(0.5, 2.5, 80)
        self.hours = np.cumsum(gaps) - gaps[0]
        flood = 6.0 * np.exp(-(((self.hours - rng.uniform(10, 50)) / 7.0) ** 2))
        self.flow = 3.0 + flood + rng.uniform(0, 0.4, len(gaps))

    def at(self, hour):
        return max(0.0, float(PchipInterpolator(self.hours, self.flow)(hour)))


class GaugeFixed(Gauge):
    def __init__(self, rng):
        super().__init__(rng)
        self.curve = PchipInterpolator(self.hours, self.flow)

    def at(self, hour):
        return max(0.0, float(self.curve(hour)))


class Tide:
    PERIODS = np.array([12.42, 12.0, 25.82, 23.93])

    def __init__(self, rng):
        self.sizes = np.array([0.9, 0.35, 0.12, 0.1]) * rng.uniform(0.8, 1.2, 4)
        self.phases = rng.uniform(0, 2 * np.pi, 4)

    def level(self, hour):
        return float(self.sizes @ np.cos(2 * np.pi * hour / self.PERIODS + self.phases))


class Lagoon:
    def __init__(self, rng, gauge, tide):
        self.gauge = gauge
        self.tide = tide
        self.areas = rng.uniform(0.8, 2.5, BASINS)
        self.widths = rng.uniform(2.0, 6.0, BASINS)
        self.sill = rng.uniform(-0.4, 0.0)
        self.calls = 0

    def exchange(self, levels, sea):
        """Flows between neighbours, seaward positive; a bar's crest holds the last one back."""
        heads = np.append(levels, sea)
        falls = heads[:-1] - heads[1:]
        flows = self.widths * np.sign(falls) * np.sqrt(np.abs(falls) + 1e-3)
        if max(levels[-1], sea) < self.sill:
            flows[-1] = 0.0
        return flows

    def rates(self, hour, state):
        self.calls += 1
        levels, salts = state[:BASINS], state[BASINS:]
        flows = self.exchange(levels, self.tide.level(hour))
        carried = np.where(flows > 0, salts, np.append(salts[1:], SEA_SALT))
        salt_flux = flows * carried
        inflow = np.concatenate(([self.gauge.at(hour)], flows[:-1]))
        salt_in = np.concatenate(([0.0], salt_flux[:-1]))
        rise = (inflow - flows) / (10.0 * self.areas)
        depth = np.maximum(levels + 2.5, 0.3)
        turn = (salt_in - salt_flux - salts * (inflow - flows)) / (10.0 * self.areas * depth)
        return np.concatenate((rise, turn))

    def season(self):
        start = np.concatenate((np.full(BASINS, 0.3), np.linspace(4, 30, BASINS)))
        times = np.arange(0, HOURS, 0.5)
        return solve_ivp(self.rates, (0, HOURS), start, method="RK23", t_eval=times, rtol=1e-4, atol=1e-5)


def oyster_hours(salts, low=12.0):
    """Longest stretch of half hours that is too fresh for oysters, by basin."""
    longest = []
    for line in salts:
        edges = np.diff((line < low).astype(np.int8), prepend=0, append=0)
        spans = np.flatnonzero(edges < 0) - np.flatnonzero(edges > 0)
        longest.append(int(spans.max(initial=0)))
    return longest


def one_pass(number, make_gauge):
    rng = np.random.default_rng(number)
    lagoon = Lagoon(rng, make_gauge(rng), Tide(rng))
    found = lagoon.season()
    return oyster_hours(found.y[BASINS:]), lagoon.calls, float(found.y[BASINS:].mean()), float(found.y[0].max())


if __name__ == "__main__":
    run(one_pass, Gauge, GaugeFixed)
