# SPDX-License-Identifier: Apache-2.0
"""Floes of a bay drift with wind and tide, push each other aside, freeze together and break; the harbour asks for open lanes."""

import numpy as np
from scipy.spatial import KDTree

from common import run

FLOES, STEPS, SIDE = 700, 40, 1_000.0


class Bay:
    def __init__(self, rng):
        self.rng = rng
        self.places = rng.uniform(0, SIDE, (FLOES, 2))
        self.moves = rng.normal(0, 0.5, (FLOES, 2))
        self.radii = rng.uniform(5, 16, FLOES)
        self.weights = self.radii**2
        self.bonds = 0

    def wind(self, step):
        """A turning wind, stronger away from the shore, and the tide along it."""
        turn = 0.15 * step
        away = self.places[:, :1] / SIDE
        tide = np.sin(step / 6.0)
        return 0.4 * away * (np.cos(turn), np.sin(turn)) + (0.0, 0.3 * tide)

    def touching(self):
        """Pairs of floes that overlap, and by how much."""
        pairs = KDTree(self.places).query_pairs(2 * self.radii.max(), output_type="ndarray")
        apart = self.places[pairs[:, 1]] - self.places[pairs[:, 0]]
        distance = np.hypot(apart[:, 0], apart[:, 1]) + 1e-9
        depth = self.radii[pairs].sum(axis=1) - distance
        hit = depth > 0
        return pairs[hit], apart[hit] / distance[hit, None], depth[hit]

    def push(self):
        """Overlapping floes are pushed apart, the light one further; slow pairs freeze together for a while."""
        pairs, direction, depth = self.touching()
        first, second = pairs.T
        total = self.weights[first] + self.weights[second]
        push = 0.3 * depth[:, None] * direction
        for axis in (0, 1):
            self.moves[:, axis] -= np.bincount(first, push[:, axis] * self.weights[second] / total, FLOES)
            self.moves[:, axis] += np.bincount(second, push[:, axis] * self.weights[first] / total, FLOES)
        speed = np.hypot(*(self.moves[first] - self.moves[second]).T)
        self.bonds += int((speed < 0.2).sum())
        return len(pairs), float(depth.sum())

    def step(self, step):
        self.moves = 0.9 * self.moves + 0.1 * self.wind(step) + self.rng.normal(0, 0.02, (FLOES, 2))
        touched, depth = self.push()
        self.places += self.moves
        outside = (self.places < 0) | (self.places > SIDE)
        self.moves[outside] *= -0.5
        np.clip(self.places, 0, SIDE, out=self.places)
        return touched, depth

    def lanes(self, width=40):
        """East-west lanes with little ice in them."""
        rows = (self.places[:, 1] // width).astype(int)
        cover = np.bincount(rows, weights=np.pi * self.weights, minlength=int(SIDE / width) + 1)
        return int((cover < 0.15 * SIDE * width).sum()), float(cover.max() / (SIDE * width))


def one_pass(number, step):
    bay = Bay(np.random.default_rng(number))
    rows = [bay.step(at) for at in range(STEPS)]
    return rows[0][0], rows[-1][0], sum(depth for _, depth in rows), bay.bonds, bay.lanes()


if __name__ == "__main__":
    run(one_pass)
