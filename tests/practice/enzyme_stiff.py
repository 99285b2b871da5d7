# SPDX-License-Identifier: Apache-2.0
"""Substances of a fermenter over an hour: stiff reactions by implicit steps, whose length follows from the error."""

import numpy as np
from scipy.linalg import lu_factor, lu_solve

from common import run

SUBSTANCES, REACTIONS = 140, 320
END = 20.0
EYE = np.eye(SUBSTANCES)


class Network:
    def __init__(self, rng):
        picks = np.array([rng.choice(SUBSTANCES, 4, replace=False) for _ in range(REACTIONS)])
        self.first, self.second = picks[:, 0], picks[:, 1]
        self.change = np.zeros((SUBSTANCES, REACTIONS))
        every = np.arange(REACTIONS)
        for column, sign in ((0, -1), (1, -1), (2, 1), (3, 1)):
            self.change[picks[:, column], every] = sign
        self.pace = 10 ** rng.uniform(-2, 2, REACTIONS)
        self.feed = np.where(rng.random(SUBSTANCES) < 0.2, 0.05, 0.0)
        self.outflow = 0.05
        self.every = every
        self.slopes = np.zeros((REACTIONS, SUBSTANCES))

    def rates(self, amounts):
        return self.change @ (self.pace * amounts[self.first] * amounts[self.second]) + self.feed - self.outflow * amounts

    def jacobian(self, amounts):
        """In a buffer that is used again: the places are the same each time, the amounts are not."""
        self.slopes[self.every, self.first] = self.pace * amounts[self.second]
        self.slopes[self.every, self.second] = self.pace * amounts[self.first]
        matrix = self.change @ self.slopes
        matrix.flat[:: SUBSTANCES + 1] -= self.outflow
        return matrix


class Solver:
    def __init__(self, network):
        self.network = network
        self.steps = self.refused = self.solved = 0

    def step(self, amounts, slope, jacobian, length):
        """Backward Euler by a simplified Newton: one matrix a step, for all of its iterations."""
        factors = lu_factor(EYE - length * jacobian)
        new = amounts + lu_solve(factors, length * slope)
        for _ in range(5):
            off = new - amounts - length * self.network.rates(new)
            move = lu_solve(factors, off)
            new -= move
            self.solved += 1
            if np.abs(move).max() < 1e-8:
                return new
        return None

    def follow(self, amounts):
        now, length = 0.0, 1e-3
        slope, jacobian = self.network.rates(amounts), self.network.jacobian(amounts)
        while now < END:
            length = min(length, END - now)
            new = self.step(amounts, slope, jacobian, length)
            error = np.inf
            if new is not None:
                following = self.network.rates(new)
                error = 0.5 * length * np.abs(following - slope).max() / 2e-3
            if error > 1.5:
                self.refused += 1
                length *= 0.4
                continue
            now += length
            amounts, slope, jacobian = new, following, self.network.jacobian(new)
            self.steps += 1
            length *= min(3.0, 0.9 / max(error, 1e-3) ** 0.5)
        return amounts


def one_pass(number, _):
    rng = np.random.default_rng(number)
    solver = Solver(Network(rng))
    amounts = solver.follow(rng.uniform(0, 1, SUBSTANCES))
    return solver.steps, float(amounts.sum()), int(amounts.argmax()), float(amounts.min())


if __name__ == "__main__":
    run(one_pass, None)
