# SPDX-License-Identifier: Apache-2.0
"""Which lights a coaster's watch could see: distance and dip of every light from each fix of the night."""

import numpy as np

from common import run

EARTH = 3440.065  # sea miles
LIGHTS = 420
FIXES = 900


def coast(seed):
    rng = np.random.default_rng(seed)
    lights = np.column_stack((rng.uniform(55, 62, LIGHTS), rng.uniform(4, 12, LIGHTS)))
    heights = rng.uniform(8, 90, LIGHTS)
    candelas = 10 ** rng.uniform(2, 6, LIGHTS)
    course = np.column_stack((rng.normal(0.004, 0.01, FIXES), rng.normal(0.003, 0.02, FIXES)))
    fixes = np.array([56.0 + rng.random(), 5.0 + rng.random()]) + course.cumsum(axis=0)
    clear = 3 + 2 * np.sin(np.arange(FIXES) / 80) + rng.random(FIXES)
    return lights, heights, candelas, np.column_stack((fixes, clear))


def reach_of(heights, eye):
    return 2.08 * (np.sqrt(heights) + np.sqrt(eye))


def night(lights, heights, candelas, fixes):
    lats, lons = lights.T.copy()
    reach = reach_of(heights, 9.5)
    seen = []
    for lat, lon, clear in fixes:
        up = np.radians(lats - lat)
        along = np.radians(lons - lon)
        chord = np.sin(up / 2) ** 2 + np.cos(np.radians(lat)) * np.cos(np.radians(lats)) * np.sin(along / 2) ** 2
        miles = 2 * EARTH * np.arcsin(np.sqrt(chord))
        in_sight = np.flatnonzero(miles < np.minimum(reach, clear * candelas**0.2))
        seen.append((len(in_sight), float(miles.min()), int(miles.argmin())))
    return seen


def night_fixed(lights, heights, candelas, fixes):
    lats, lons = lights.T.copy()
    reach = reach_of(heights, 9.5)
    brightness = candelas**0.2
    narrowing = np.cos(np.radians(lats))
    seen = []
    for lat, lon, clear in fixes:
        up = np.radians(lats - lat)
        along = np.radians(lons - lon)
        chord = np.sin(up / 2) ** 2 + np.cos(np.radians(lat)) * narrowing * np.sin(along / 2) ** 2
        miles = 2 * EARTH * np.arcsin(np.sqrt(chord))
        in_sight = np.flatnonzero(miles < np.minimum(reach, clear * brightness))
        seen.append((len(in_sight), float(miles.min()), int(miles.argmin())))
    return seen


def one_pass(number, step):
    lights, heights, candelas, fixes = coast(number)
    seen = step(lights, heights, candelas, fixes)
    return max(count for count, _, _ in seen), sum(far for _, far, _ in seen), len({light for _, _, light in seen})


if __name__ == "__main__":
    run(one_pass, night, night_fixed)
