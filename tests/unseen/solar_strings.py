# SPDX-License-Identifier: Apache-2.0
"""What the strings of panels of a village's roofs gave in a day, against what the sun allowed: soiled and shaded ones are found."""

import math
from dataclasses import dataclass, field

import numpy as np

from runner import run

MINUTES = np.arange(5 * 60, 21 * 60, 4)
ANGLES = (MINUTES - 12.5 * 60) / (16 * 60) * np.pi
NOON = np.cos(ANGLES)
WARM = 15 + 10 * np.cos(ANGLES - 0.3)


@dataclass
class Panels:
    name: str
    tilt: float
    facing: float
    peak: float
    soil: float
    shade_from: int
    yields: list = field(default_factory=list)
    side: np.ndarray = None

    def __post_init__(self):
        """What the panels see of a sun that stands low."""
        self.side = np.maximum(np.sin(self.tilt) * np.cos(ANGLES - self.facing), 0.0) * 0.5


class Day:
    def __init__(self, rng):
        self.up = np.maximum(NOON * rng.uniform(0.5, 1.0), 0.0)
        clouds = np.cumsum(rng.normal(0, 0.05, MINUTES.size))
        self.clear = np.clip(0.9 + clouds - clouds.mean(), 0.1, 1.0)
        self.warm = WARM + rng.normal(0, 4)

    def sun(self, panels):
        return 1000 * self.clear * (self.up * math.cos(panels.tilt) + panels.side)


def power(rng, panels, sun, day):
    """Watts by the inverter, with its losses and the heat's."""
    cell = day.warm + 0.03 * sun
    raw = panels.peak * sun * (1 - 0.004 * (cell - 25)) * (1 - panels.soil)
    raw[panels.shade_from :] *= 0.4
    loss = 5 + 0.02 * raw + 4e-6 * raw * raw
    return np.maximum(raw - loss + rng.normal(0, 3, raw.size), 0.0)


def energy(watts):
    return sum(watts) * 4 / 60_000


def energy_fixed(watts):
    return float(watts.sum()) * 4 / 60_000


def judge(panels, given, possible):
    share = given / possible
    panels.yields.append(share)
    if share < 0.55:
        return "shaded" if panels.shade_from < 180 else "soiled"
    return "fine"


def ramp(watts):
    """The steepest quarter of an hour; grids dislike these."""
    return float(np.abs(watts[4:] - watts[:-4]).max())


def one_pass(number, energy):
    rng = np.random.default_rng(number)
    roofs = [
        Panels("roof %d" % at, rng.uniform(0.2, 0.8), rng.uniform(-0.8, 0.8), rng.uniform(2, 9), rng.uniform(0, 0.3), int(rng.integers(90, 300)))
        for at in range(25)
    ]
    found, steepest = [], 0.0
    for _ in range(4):
        day = Day(rng)
        for panels in roofs:
            sun = day.sun(panels)
            watts = power(rng, panels, sun, day)
            steepest = max(steepest, ramp(watts))
            possible = panels.peak * float(sun.sum()) * 4 / 60_000
            found.append(judge(panels, energy(watts), possible))
    means = [sum(panels.yields) / len(panels.yields) for panels in roofs]
    return found.count("fine"), found.count("shaded"), steepest, means


if __name__ == "__main__":
    run(one_pass, energy, energy_fixed)
