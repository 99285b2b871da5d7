# SPDX-License-Identifier: Apache-2.0
"""Where a weather radar sees over the hills: the lowest clear beam in each direction, and what lies in shadow."""

import bisect
import math

import numpy as np

from common import run

RAYS, GATES, STEP = 120, 320, 125.0  # metres between gates
RADIUS = 8_495_000.0  # of the earth, with refraction


def make_hills(seed):
    """Heights along each ray, from random waves."""
    rng = np.random.default_rng(seed)
    distance = np.arange(GATES) * STEP
    angle = np.linspace(0, 2 * np.pi, RAYS, endpoint=False)
    x, y = distance * np.cos(angle)[:, None], distance * np.sin(angle)[:, None]
    ground = np.zeros((RAYS, GATES))
    for _ in range(3):
        wave, turn = rng.uniform(4e-4, 2e-3), rng.uniform(0, np.pi)
        ground += rng.uniform(40, 200) * np.sin(wave * (x * np.cos(turn) + y * np.sin(turn)) + rng.uniform(0, 6))
    return np.maximum(ground + 200, 0)


def slopes_of(ground, mast):
    distance = np.arange(1, GATES) * STEP
    rise = ground[:, 1:] - ground[:, :1] - mast - distance**2 / (2 * RADIUS)
    return rise / distance


def horizon_of(slopes):
    def horizon(ray, first, last):
        return max(slopes[ray, gate] for gate in range(first, last))

    return horizon


def horizon_of_fixed(slopes):
    def horizon(ray, first, last):
        return slopes[ray, first:last].max()

    return horizon


def in_melting(sine, gates, mast, melting):
    """At how many of the gates the beam is in the layer where snow melts."""
    found = 0
    for gate in gates:
        slant = (gate + 1) * STEP
        found += abs(mast + slant * sine + slant * slant / (2 * RADIUS) - melting) < 300
    return found


def lowest_clear(horizons, sectors, mast, melting):
    """For every ray and sector, the first tilt whose beam passes all that lies before it."""
    tilts = [0.3 + 0.25 * n for n in range(20)]
    lower = [math.tan(math.radians(tilt - 0.5)) for tilt in tilts]
    sines = {tilt: math.sin(math.radians(tilt)) for tilt in tilts}
    plan = []
    for ray in range(RAYS):
        highest = -10.0
        for first, last in sectors:
            highest = max(highest, horizons(ray, first, last))
            tilt = tilts[min(bisect.bisect_right(lower, highest), len(tilts) - 1)]
            plan.append((ray, tilt, in_melting(sines[tilt], range(first, last, 12), mast, melting)))
    return plan


def one_pass(number, make_horizon):
    mast = 18.0 + number % 9
    ground = make_hills(number)
    horizons = make_horizon(slopes_of(ground, mast))
    edges = list(range(0, GATES - 1, 29)) + [GATES - 1]
    plan = lowest_clear(horizons, list(zip(edges, edges[1:])), mast, 900.0 + number % 700)
    used = {}
    for _, tilt, _ in plan:
        used[tilt] = used.get(tilt, 0) + 1
    bright = sum(found for _, _, found in plan)
    shadow = sum(tilt > 3 for _, tilt, _ in plan)
    return [sorted(used.items()), shadow, bright]


if __name__ == "__main__":
    run(one_pass, horizon_of, horizon_of_fixed)
