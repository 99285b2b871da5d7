# SPDX-License-Identifier: Apache-2.0
"""Heat of setting in a concrete raft, hour by hour: the hottest place, the steepest gradient, when to strip it."""

import numpy as np
import scipy.sparse as sparse
from scipy.sparse.linalg import factorized, spsolve

from common import run

DEEP, WIDE = 22, 34
HOURS = 72


def laplacian(count, spacing):
    ones = np.ones(count)
    return sparse.diags([ones[1:], -2 * ones, ones[1:]], [-1, 0, 1]) / spacing**2


class Raft:
    def __init__(self, seed):
        rng = np.random.default_rng(seed)
        self.conduction = rng.uniform(6.5e-3, 9.0e-3)  # m2/h
        self.gain = rng.uniform(30, 45)  # K
        self.rate = rng.uniform(0.03, 0.06)  # 1/h
        self.outside = 12 + 7 * np.sin(np.arange(HOURS) / 24 * 2 * np.pi) + rng.normal(0, 1, HOURS)
        plane = sparse.kron(laplacian(DEEP, 0.06), sparse.eye(WIDE)) + sparse.kron(sparse.eye(DEEP), laplacian(WIDE, 0.09))
        self.matrix = sparse.csc_matrix(sparse.eye(DEEP * WIDE) - self.conduction * plane)
        rim = np.zeros((DEEP, WIDE))
        rim[[0, -1], :] += self.conduction / 0.06**2
        rim[:, [0, -1]] += self.conduction / 0.09**2
        self.rim = rim.ravel()
        self.warm = np.full(DEEP * WIDE, 15.0) + rng.uniform(0, 2, DEEP * WIDE)

    def setting(self, maturity):
        """Warmth let free in an hour, less where the concrete is old."""
        return self.gain * self.rate * np.exp(-self.rate * maturity)


def cool(raft):
    warm, maturity = raft.warm, np.zeros_like(raft.warm)
    for hour in range(HOURS):
        load = warm + raft.setting(maturity) + raft.rim * raft.outside[hour]
        warm = spsolve(raft.matrix, load)
        maturity += np.exp(4000 * (1 / 293 - 1 / (273 + warm)))
        yield warm


def cool_fixed(raft):
    warm, maturity = raft.warm, np.zeros_like(raft.warm)
    solve = factorized(raft.matrix)
    for hour in range(HOURS):
        load = warm + raft.setting(maturity) + raft.rim * raft.outside[hour]
        warm = solve(load)
        maturity += np.exp(4000 * (1 / 293 - 1 / (273 + warm)))
        yield warm


def judge(hours):
    hottest, steepest, strip = (0.0, 0), 0.0, None
    for hour, warm in enumerate(hours):
        grid = warm.reshape(DEEP, WIDE)
        down, along = np.gradient(grid, 0.06, 0.09)
        steep = float(np.hypot(down, along).max())
        cold, hot = np.percentile(grid, (5, 95))
        hottest = max(hottest, (float(grid.max()), hour))
        steepest = max(steepest, steep)
        if strip is None and hour > 12 and hot - cold < 6.0:
            strip = hour
    return hottest, steepest, strip


def one_pass(number, step):
    return judge(step(Raft(number)))


if __name__ == "__main__":
    run(one_pass, cool, cool_fixed)
