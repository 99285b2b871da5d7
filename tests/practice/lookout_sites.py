# SPDX-License-Identifier: Apache-2.0
"""Where to put fire lookouts: sites far from one another and near dry slopes are picked one by one, then moved within their districts."""

import numpy as np
from scipy.spatial import cKDTree
from scipy.spatial.distance import cdist

from common import run

SLOPES = 1500
SITES = 36


class Forest:
    def __init__(self, rng):
        self.where = rng.uniform(0, 60, (SLOPES, 2))
        x, y = self.where.T
        self.height = 300 + 90 * np.sin(x / 7) + 70 * np.cos(y / 5) + rng.normal(0, 10, SLOPES)
        self.dry = np.exp(rng.normal(0, 0.5, SLOPES))
        self.points = np.column_stack((self.where, self.height / 100))


class Farthest:
    """Greedy picks: always the slope that weighs most by its dryness and its way to the nearest site."""

    def __init__(self, forest):
        self.forest = forest

    def gaps(self, chosen):
        return cdist(self.forest.points, self.forest.points[chosen]).min(axis=1)

    def pick(self, count):
        chosen = [int(np.argmax(self.forest.dry))]
        while len(chosen) < count:
            worst = self.gaps(chosen) * np.sqrt(self.forest.dry)
            chosen.append(int(np.argmax(worst)))
        return chosen


class FarthestFixed(Farthest):
    def pick(self, count):
        points = self.forest.points
        chosen = [int(np.argmax(self.forest.dry))]
        nearest = cdist(points, points[chosen])[:, 0]
        while len(chosen) < count:
            chosen.append(int(np.argmax(nearest * np.sqrt(self.forest.dry))))
            np.minimum(nearest, cdist(points, points[chosen[-1:]])[:, 0], out=nearest)
        return chosen


class Districts:
    def __init__(self, forest, chosen):
        self.forest = forest
        self.places = forest.points[chosen].copy()

    def settle(self, rounds=6):
        """Sites go to the dry middle of their districts, a bit less each round."""
        pull = 0.5
        for _ in range(rounds):
            _, owner = cKDTree(self.places).query(self.forest.points)
            dry = np.bincount(owner, self.forest.dry, SITES)
            for axis in range(3):
                middle = np.bincount(owner, self.forest.dry * self.forest.points[:, axis], SITES) / np.maximum(dry, 1e-9)
                self.places[:, axis] += np.where(dry > 0, pull * (middle - self.places[:, axis]), 0.0)
            pull *= 0.8
        return owner

    def seen(self, reach=9.0):
        """Slopes within reach that no higher ground on the way hides from the site."""
        ground = cKDTree(self.forest.where)
        near = ground.query_ball_point(self.places[:, :2], reach)
        site = np.repeat(np.arange(SITES), [len(slopes) for slopes in near])
        slope = np.concatenate(near).astype(int)
        _, between = ground.query((self.forest.where[slope] + self.places[site, :2]) / 2)
        sight = (self.forest.height[slope] + 100 * self.places[site, 2] + 30) / 2
        return int(np.count_nonzero(self.forest.height[between] < sight))


def one_pass(number, make):
    forest = Forest(np.random.default_rng(number))
    chosen = make(forest).pick(SITES)
    districts = Districts(forest, chosen)
    owner = districts.settle()
    return sorted(chosen), int(np.bincount(owner).max()), districts.seen(), float(districts.places.sum())


if __name__ == "__main__":
    run(one_pass, Farthest, FarthestFixed)
