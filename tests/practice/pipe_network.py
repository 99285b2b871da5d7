# SPDX-License-Identifier: Apache-2.0
"""Pressures in a water network: Newton steps on a sparse Jacobian that is filled again in place."""

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import spsolve

from common import run


class Pipes:
    def __init__(self, rng, rows, columns):
        place = np.arange(rows * columns).reshape(rows, columns)
        ends = [(place[:, :-1], place[:, 1:]), (place[:-1], place[1:])]
        self.start = np.concatenate([a.ravel() for a, _ in ends])
        self.end = np.concatenate([b.ravel() for _, b in ends])
        self.nodes = place.size
        self.rough = rng.uniform(0.5, 2.0, len(self.start))
        joints = np.concatenate([self.start, self.end])
        others = np.concatenate([self.end, self.start])
        entries = np.concatenate([joints * self.nodes + others, np.arange(self.nodes) * (self.nodes + 1)])
        self.order = np.argsort(entries)
        counts = np.bincount(entries // self.nodes, minlength=self.nodes)
        self.jacobian = sparse.csr_matrix(
            (np.zeros(len(entries)), entries[self.order] % self.nodes, np.concatenate([[0], np.cumsum(counts)])),
            shape=(self.nodes, self.nodes),
        )
        self.balance = np.zeros(self.nodes)

    def flows(self, pressure):
        fall = pressure[self.start] - pressure[self.end]
        root = np.sqrt(np.abs(fall) + 1e-4)
        return fall / (self.rough * root), 0.5 / (self.rough * root) * (1 + 1e-4 / (root * root))

    def fill(self, slopes, tank):
        diagonal = np.bincount(self.start, slopes, self.nodes) + np.bincount(self.end, slopes, self.nodes)
        diagonal[tank] += 1e6
        self.jacobian.data[:] = np.concatenate([-slopes, -slopes, diagonal])[self.order]

    def residual(self, flows, taken):
        self.balance[:] = -taken
        np.subtract.at(self.balance, self.start, flows)
        np.add.at(self.balance, self.end, flows)
        return self.balance


def settle(pipes, taken, tank=0, steps=12):
    pressure = np.full(pipes.nodes, 40.0) + np.linspace(0, -3, pipes.nodes)
    for step in range(steps):
        flows, slopes = pipes.flows(pressure)
        wrong = pipes.residual(flows, taken)
        wrong[tank] = 1e6 * (40.0 - pressure[tank])
        if np.abs(wrong).max() < 1e-6:
            break
        pipes.fill(slopes, tank)
        pressure = pressure + 0.8 * spsolve(pipes.jacobian, wrong)
    return pressure, step


def one_pass(number, _):
    rng = np.random.default_rng(number)
    pipes = Pipes(rng, 14, 14)
    lowest = []
    for hour in range(3):
        taken = rng.gamma(2, 0.01, pipes.nodes) * (1 + 0.5 * np.sin(hour))
        pressure, step = settle(pipes, taken)
        lowest += [float(pressure.min()), step]
    return lowest


if __name__ == "__main__":
    run(one_pass)
