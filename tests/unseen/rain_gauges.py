# SPDX-License-Identifier: Apache-2.0
"""Where a county should put its rain gauges: one after the other, always as far as can be from those that stand."""

import numpy as np

from runner import run

FARMS = 900
GAUGES = 24
STORMS = 30


def farms(rng):
    """Places of farms in kilometres, thicker along three rivers."""
    along = rng.random(FARMS)
    river = rng.integers(0, 3, FARMS)
    x = 60 * along + rng.normal(0, 2.5, FARMS)
    y = 14 * river + 9 * np.sin(5 * along + river) + rng.normal(0, 2.0, FARMS)
    return np.stack([x, y], axis=1)


def sites(points, first):
    chosen = [first]
    while len(chosen) < GAUGES:
        away = np.linalg.norm(points[:, None] - points[chosen], axis=2)
        chosen.append(int(away.min(axis=1).argmax()))
    return chosen


def sites_fixed(points, first):
    chosen = [first]
    nearest = np.linalg.norm(points - points[first], axis=1)
    while len(chosen) < GAUGES:
        chosen.append(int(nearest.argmax()))
        nearest = np.minimum(nearest, np.linalg.norm(points - points[chosen[-1]], axis=1))
    return chosen


def rain(rng, points):
    """Millimetres on each farm, from one storm of three cells."""
    middle = rng.uniform([0, -5], [60, 40], (3, 2))
    wide = rng.uniform(5, 16, 3)
    deep = rng.uniform(4, 30, 3)
    squares = ((points[:, None] - middle) ** 2).sum(axis=2)
    return (deep * np.exp(-squares / (2 * wide**2))).sum(axis=1)


def one_pass(number, step):
    rng = np.random.default_rng(number)
    points = farms(rng)
    chosen = step(points, int(points[:, 0].argmin()))
    weights = 1 / (0.5 + ((points[:, None] - points[chosen]) ** 2).sum(axis=2))
    weights /= weights.sum(axis=1, keepdims=True)
    errors, missed = [], 0
    for _ in range(STORMS):
        fallen = rain(rng, points)
        guess = weights @ fallen[chosen]
        errors.append(float(np.sqrt(np.mean((guess - fallen) ** 2))))
        missed += int(np.count_nonzero((fallen > 20) & (guess < 10)))
    return chosen[:6], max(errors), sum(errors) / STORMS, missed


if __name__ == "__main__":
    run(one_pass, sites, sites_fixed)
