# SPDX-License-Identifier: Apache-2.0
"""Clouds of pollen drift over fields; gusts are drawn anew for each step, and grains settle or fly on."""

import numpy as np

from common import run

GRAINS = 600
STEPS = 260


class Cloud:
    def __init__(self, rng, spread, fall):
        self.rng = rng
        self.spread = spread
        self.fall = fall
        self.at = np.zeros((GRAINS, 3))
        self.at[:, 2] = rng.uniform(2, 30, GRAINS)
        self.landed = []

    def drift(self, wind):
        self.at += self.rng.normal(0.0, self.spread, self.at.shape)
        self.at[:, :2] += wind
        self.at[:, 2] -= self.fall
        down = self.at[:, 2] <= 0
        if down.any():
            self.landed.append(self.at[down, :2])
            self.at = self.at[~down]

    def harvest(self):
        if not self.landed:
            return 0, 0.0
        ground = np.concatenate(self.landed)
        return len(ground), float(np.hypot(ground[:, 0], ground[:, 1]).mean())


def one_pass(number, step):
    rng = np.random.default_rng(number)
    found = []
    for fall in rng.uniform(0.03, 0.2, 6).tolist():
        cloud = Cloud(rng, 0.4, fall)
        wind = np.array([0.8, 0.1])
        for gust in rng.normal(0.0, 0.1, (STEPS, 2)):
            wind = 0.97 * wind + gust
            cloud.drift(wind)
        found.append(cloud.harvest())
    return found


if __name__ == "__main__":
    run(one_pass)
