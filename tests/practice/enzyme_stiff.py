# SPDX-License-Identifier: Apache-2.0
"""Enzymes of a cell that hasten and hinder each other, as departures from rest: a stiff system by implicit steps, whose length follows from the error."""

import numpy as np
from scipy.linalg import lu_factor, lu_solve

from common import run

ENZYMES, PATHS = 120, 140
END = 6.0
EYE = np.eye(ENZYMES)


class Network:
    def __init__(self, rng):
        self.acts = rng.normal(0, 1.2, (PATHS, ENZYMES)) / ENZYMES**0.5
        self.makes = rng.normal(0, 2, (ENZYMES, PATHS)) / PATHS**0.5
        self.feed = rng.uniform(0, 0.4, ENZYMES)
        self.decay = 10 ** rng.uniform(-1, 3, ENZYMES)
        self.slopes = np.empty((ENZYMES, PATHS))

    def rates(self, levels):
        return self.makes @ np.tanh(self.acts @ levels) + self.feed - self.decay * levels

    def jacobian(self, levels):
        """In a buffer that is used again: the places are the same each time, the levels are not."""
        level = np.tanh(self.acts @ levels)
        np.multiply(self.makes, 1 - level * level, out=self.slopes)
        matrix = self.slopes @ self.acts
        matrix.flat[:: ENZYMES + 1] -= self.decay
        return matrix


class Solver:
    def __init__(self, network):
        self.network = network
        self.steps = self.refused = self.solved = 0

    def step(self, levels, slope, jacobian, length):
        """Backward Euler by a simplified Newton: one matrix a step, for all of its iterations."""
        factors = lu_factor(EYE - length * jacobian)
        new = levels + lu_solve(factors, length * slope)
        for _ in range(5):
            off = new - levels - length * self.network.rates(new)
            move = lu_solve(factors, off)
            new -= move
            self.solved += 1
            if np.abs(move).max() < 1e-8:
                return new
        return None

    def follow(self, levels):
        now, length = 0.0, 1e-3
        slope, jacobian = self.network.rates(levels), self.network.jacobian(levels)
        while now < END:
            length = min(length, END - now)
            new = self.step(levels, slope, jacobian, length)
            error = np.inf
            if new is not None:
                following = self.network.rates(new)
                error = 0.5 * length * np.abs(following - slope).max() / 2e-3
            if error > 1.5:
                self.refused += 1
                length *= 0.4
                continue
            now += length
            levels, slope, jacobian = new, following, self.network.jacobian(new)
            self.steps += 1
            length *= min(3.0, 0.9 / max(error, 1e-3) ** 0.5)
        return levels


def one_pass(number, _):
    rng = np.random.default_rng(number)
    solver = Solver(Network(rng))
    levels = solver.follow(rng.uniform(0, 1, ENZYMES))
    return solver.steps, float(levels.sum()), int(levels.argmax()), float(levels.min())


if __name__ == "__main__":
    run(one_pass, None)
