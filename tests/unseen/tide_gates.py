# SPDX-License-Identifier: Apache-2.0
"""A marsh behind a tide gate, hour by hour, for many possible rains: how full it gets, from a survey of its bed."""

import numpy as np
from scipy.interpolate import PchipInterpolator

from runner import run

SURVEYED = 40
RAINS = 2000
HOURS = 72


class Marsh:
    """Area of the water at each level, from a survey whose points lie unevenly."""

    def __init__(self, levels, areas):
        self.levels = levels
        self.areas = areas

    def area(self, level):
        return PchipInterpolator(self.levels, self.areas)(level)


class MarshFixed(Marsh):
    def __init__(self, levels, areas):
        super().__init__(levels, areas)
        self.curve = PchipInterpolator(levels, areas)

    def area(self, level):
        return self.curve(level)


def survey(rng):
    levels = np.sort(rng.uniform(-1.0, 4.0, SURVEYED))
    levels[0], levels[-1] = -1.2, 4.2
    areas = 2e4 + np.sort(rng.gamma(2.0, 6e4, SURVEYED)).cumsum()
    return levels, areas


def gate_flow(level, tide):
    """Out through the gate by its own weight when the sea is lower; a little leaks in when not."""
    head = level - tide
    return np.where(head > 0, 9.5, -0.2) * np.sqrt(np.abs(head))


def season(marsh, rng):
    level = rng.normal(0.4, 0.1, RAINS)
    range_of_tide = rng.uniform(1.1, 1.9)
    highest = level.copy()
    flooded = np.zeros(RAINS)
    for hour in range(HOURS):
        tide = 0.6 + range_of_tide * np.sin(hour * 2 * np.pi / 12.42)
        rain = rng.gamma(0.3, 6.0, RAINS)
        out = gate_flow(level, tide) * 3600
        level = np.clip(level + (rain / 1000 * 3e6 - out) / marsh.area(level), -1.2, 4.2)
        highest = np.maximum(highest, level)
        flooded += level > 0.5
    return highest, flooded


def one_pass(number, step):
    rng = np.random.default_rng(number)
    marsh = step(*survey(rng))
    highest, flooded = season(marsh, rng)
    return [float(part) for part in np.percentile(highest, [5, 50, 95])], float(flooded.mean())


if __name__ == "__main__":
    run(one_pass, Marsh, MarshFixed)
