# SPDX-License-Identifier: Apache-2.0
"""Follows drifting buoys in pictures from a plane: in every picture, the spots seen are given to the tracks they belong to."""

import numpy as np
from scipy.optimize import linear_sum_assignment

from common import run

BUOYS, PICTURES, MOST = 36, 110, 48
GATE = 60.0


class Sea:
    """Buoys go with an eddy, and each picture misses some of them and shows foam besides."""

    def __init__(self, rng):
        self.rng = rng
        self.places = rng.uniform(0, 1000, (BUOYS, 2))
        self.centre = rng.uniform(300, 700, 2)

    def picture(self):
        arm = self.places - self.centre
        self.places += 0.01 * np.column_stack([-arm[:, 1], arm[:, 0]]) + self.rng.normal(0, 0.6, (BUOYS, 2))
        seen = self.places[self.rng.random(BUOYS) < 0.93]
        foam = self.rng.uniform(0, 1000, (self.rng.poisson(2), 2))
        spots = np.concatenate([seen, foam]) + self.rng.normal(0, 0.8, (len(seen) + len(foam), 2))
        return self.rng.permutation(spots)


class Tracks:
    """All tracks in arrays of one length; the first `count` are in use."""

    def __init__(self):
        self.count = 0
        self.places = np.zeros((MOST, 2))
        self.speeds = np.zeros((MOST, 2))
        self.age = np.zeros(MOST, dtype=int)
        self.lost = np.zeros(MOST, dtype=int)
        self.cost = np.empty((MOST, MOST))
        self.apart = np.empty((MOST, MOST))

    def predict(self):
        self.places[: self.count] += self.speeds[: self.count]

    def fill(self, spots):
        """Squared distances, cut off at the gate, into the same square as ever."""
        self.cost.fill(GATE**2)
        if not self.count:
            return
        part = self.cost[: self.count, : len(spots)]
        apart = self.apart[: self.count, : len(spots)]
        np.subtract.outer(self.places[: self.count, 0], spots[:, 0], out=part)
        np.multiply(part, part, out=part)
        np.subtract.outer(self.places[: self.count, 1], spots[:, 1], out=apart)
        np.multiply(apart, apart, out=apart)
        part += apart
        np.minimum(part, GATE**2, out=part)

    def match(self, spots):
        self.fill(spots)
        rows, columns = linear_sum_assignment(self.cost)
        good = self.cost[rows, columns] < GATE**2
        return rows[good], columns[good]

    def update(self, spots):
        self.predict()
        rows, columns = self.match(spots)
        wrong = spots[columns] - self.places[rows]
        self.places[rows] += 0.6 * wrong
        self.speeds[rows] += 0.25 * wrong
        self.age[: self.count] += 1
        self.lost[: self.count] += 1
        self.lost[rows] = 0
        self.drop(self.lost[: self.count] < 5)
        self.begin(np.delete(spots, columns, axis=0))

    def drop(self, keep):
        kept = np.flatnonzero(keep)
        for column in (self.places, self.speeds, self.age, self.lost):
            column[: len(kept)] = column[kept]
        self.count = len(kept)

    def begin(self, spots):
        room = min(len(spots), MOST - self.count)
        new = slice(self.count, self.count + room)
        self.places[new] = spots[:room]
        self.speeds[new] = 0.0
        self.age[new] = self.lost[new] = 0
        self.count += room


def one_pass(number, step):
    sea, tracks = Sea(np.random.default_rng(number)), Tracks()
    counts = []
    for _ in range(PICTURES):
        tracks.update(sea.picture()[:MOST])
        counts.append(tracks.count)
    old = tracks.age[: tracks.count] > 50
    speeds = np.hypot(*tracks.speeds[: tracks.count][old].T)
    return counts[-1], max(counts), int(old.sum()), float(speeds.mean())


if __name__ == "__main__":
    run(one_pass)
