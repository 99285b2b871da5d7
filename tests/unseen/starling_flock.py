# SPDX-License-Identifier: Apache-2.0
"""Starlings over a reed bed: each turns with its neighbours and away from a falcon; how tight does the flock stay?"""

import numpy as np
from scipy.spatial import cKDTree

from runner import run

BIRDS = 350
STEPS = 30
SIGHT = 2.2


class Flock:
    def __init__(self, seed):
        rng = np.random.default_rng(seed)
        self.places = rng.normal(0, 6, (BIRDS, 3))
        heading = rng.normal(0, 1, 3)
        self.speeds = heading + rng.normal(0, 0.4, (BIRDS, 3))
        self.falcon = rng.normal(0, 20, 3)
        self.rng = rng

    def pairs(self):
        tree = cKDTree(self.places)
        return tree.query_pairs(SIGHT, output_type="ndarray")

    def turn(self, pairs):
        """What neighbours do to a bird: it goes their way, and keeps off those that are too near."""
        one, other = pairs.T
        seen = np.bincount(pairs.ravel(), minlength=BIRDS)[:, None]
        gap = self.places[one] - self.places[other]
        push = gap / (np.sum(gap * gap, axis=1) + 0.05)[:, None]
        along = np.empty((BIRDS, 3))
        away = np.empty((BIRDS, 3))
        for axis in range(3):
            along[:, axis] = np.bincount(one, self.speeds[other, axis], BIRDS)
            along[:, axis] += np.bincount(other, self.speeds[one, axis], BIRDS)
            away[:, axis] = np.bincount(one, push[:, axis], BIRDS) - np.bincount(other, push[:, axis], BIRDS)
        mean = along / np.maximum(seen, 1)
        return np.where(seen > 0, 0.3 * (mean - self.speeds), 0.0) + 0.02 * away

    def flee(self):
        to_falcon = self.places - self.falcon
        far = np.linalg.norm(to_falcon, axis=1, keepdims=True)
        return 1.5 * to_falcon / (far**2 + 1)

    def step(self):
        pairs = self.pairs()
        pull = 0.01 * (self.places.mean(axis=0) - self.places)
        self.speeds += self.turn(pairs) + self.flee() + pull + self.rng.normal(0, 0.05, (BIRDS, 3))
        pace = np.linalg.norm(self.speeds, axis=1, keepdims=True)
        self.speeds *= np.clip(pace, 0.6, 2.5) / pace
        self.places += 0.2 * self.speeds
        self.falcon += 0.25 * (self.places.mean(axis=0) - self.falcon) + self.rng.normal(0, 0.4, 3)
        return len(pairs)


def one_pass(number, step):
    flock = Flock(number)
    met = [flock.step() for _ in range(STEPS)]
    spread = flock.places.std(axis=0).mean()
    order = np.linalg.norm(flock.speeds.mean(axis=0)) / np.linalg.norm(flock.speeds, axis=1).mean()
    return max(met), sum(met), float(spread), float(order)


if __name__ == "__main__":
    run(one_pass)
