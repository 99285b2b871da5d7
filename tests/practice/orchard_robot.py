# SPDX-License-Identifier: Apache-2.0
"""A picking robot decides which apples are ripe from five measures of each, against a model of its sort."""

import numpy as np

from common import run

MEASURES = 5


class Sort:
    """Mean and spread of the ripe apples of one sort."""

    def __init__(self, mean, spread):
        self.mean = mean
        self.spread = spread

    @property
    def precision(self):
        return np.linalg.inv(self.spread)

    def distance(self, apple):
        off = apple - self.mean
        return float(off @ self.precision @ off)

    def telling(self, apple):
        off = apple - self.mean
        return int(np.abs(off * (self.precision @ off)).argmax())


class SortFixed(Sort):
    def __init__(self, mean, spread):
        super().__init__(mean, spread)
        self._precision = np.linalg.inv(spread)

    @property
    def precision(self):
        return self._precision


class Robot:
    def __init__(self, sorts):
        self.sorts = sorts
        self.baskets = [[] for _ in sorts]
        self.doubts = [0] * MEASURES

    def look(self, apple):
        far = [sort.distance(apple) for sort in self.sorts]
        best = far.index(min(far))
        if far[best] < 9.2:
            self.baskets[best].append(apple)
        else:
            self.doubts[self.sorts[best].telling(apple)] += 1

    def weights(self):
        return [float(np.array(basket).mean()) if basket else 0.0 for basket in self.baskets]


def one_pass(number, step):
    rng = np.random.default_rng(number)
    sorts, apples = [], []
    for _ in range(3):
        mean = rng.uniform(2, 8, MEASURES)
        root = rng.normal(0, 0.7, (MEASURES, MEASURES)) + np.eye(MEASURES)
        sorts.append(step(mean, root @ root.T))
        apples.append(rng.normal(0, 1.1, (350, MEASURES)) @ root.T + mean)
    robot = Robot(sorts)
    for apple in rng.permutation(np.concatenate(apples)):
        robot.look(apple)
    return [len(basket) for basket in robot.baskets], robot.weights(), robot.doubts


if __name__ == "__main__":
    run(one_pass, Sort, SortFixed)
