# SPDX-License-Identifier: Apache-2.0
"""Levelling: measured differences of height between benchmarks are adjusted, blunders weighed down, by mirrors that make the equations triangular."""

from dataclasses import dataclass

import numpy as np
from scipy.linalg import solve_triangular

from common import run

MARKS, SIGHTS, ROUNDS = 22, 130, 4


@dataclass
class Network:
    starts: np.ndarray
    ends: np.ndarray
    rises: np.ndarray
    lengths: np.ndarray
    truth: np.ndarray


def measured(rng):
    truth = rng.uniform(20, 300, MARKS)
    starts = np.concatenate([np.arange(MARKS - 1), rng.integers(0, MARKS, SIGHTS - MARKS + 1)])
    ends = np.concatenate([np.arange(1, MARKS), (starts[MARKS - 1 :] + rng.integers(1, MARKS, SIGHTS - MARKS + 1)) % MARKS])
    lengths = rng.uniform(0.2, 3.0, SIGHTS)
    rises = truth[ends] - truth[starts] + rng.normal(0, 0.002, SIGHTS) * np.sqrt(lengths)
    wrong = rng.choice(SIGHTS, 5, replace=False)
    rises[wrong] += rng.choice([-0.1, 0.1, 1.0], 5)
    return Network(starts, ends, rises, lengths, truth)


def equations(network):
    """One row a sight; the first mark's height is known."""
    rows = np.zeros((SIGHTS, MARKS))
    at = np.arange(SIGHTS)
    rows[at, network.ends] += 1
    rows[at, network.starts] -= 1
    right = network.rises - rows[:, 0] * network.truth[0]
    return rows[:, 1:], right


def normal_of(column):
    """The direction of the mirror that turns the column onto the first axis."""
    normal = column.copy()
    normal[0] += np.copysign(np.linalg.norm(column), column[0])
    return normal / np.linalg.norm(normal)


def solve(rows, right):
    work = np.column_stack([rows, right])
    unknowns = rows.shape[1]
    for column in range(unknowns):
        normal = normal_of(work[column:, column])
        mirror = np.eye(len(normal)) - 2.0 * np.outer(normal, normal)
        work[column:, column:] = mirror @ work[column:, column:]
    return solve_triangular(work[:unknowns, :unknowns], work[:unknowns, -1])


def solve_fix(rows, right):
    work = np.column_stack([rows, right])
    unknowns = rows.shape[1]
    for column in range(unknowns):
        normal = normal_of(work[column:, column])
        part = work[column:, column:]
        part -= np.outer(2.0 * normal, normal @ part)
    return solve_triangular(work[:unknowns, :unknowns], work[:unknowns, -1])


class Adjustment:
    def __init__(self, network, solver):
        self.network = network
        self.solver = solver
        self.rows, self.right = equations(network)
        self.roots = np.sqrt(network.lengths)
        self.weights = 1 / self.roots

    def run(self):
        for _ in range(ROUNDS):
            heights = self.solver(self.rows * self.weights[:, None], self.right * self.weights)
            left = self.rows @ heights - self.right
            away = np.abs(left) / self.roots
            far = away / (2.5 * 1.4826 * np.median(away))
            self.weights = 1 / (self.roots * np.sqrt(np.maximum(far, 1.0)))
        return heights, left

    def blunders(self, left):
        limit = 6 * np.median(np.abs(left))
        return np.flatnonzero(np.abs(left) > limit)


def loops(network, rng):
    """Closing errors of random round trips of three sights that share their marks."""
    worst = 0.0
    by_pair = {(int(s), int(e)): float(r) for s, e, r in zip(network.starts, network.ends, network.rises)}
    for a, b, c in rng.integers(0, MARKS, (150, 3)).tolist():
        if (a, b) in by_pair and (b, c) in by_pair and (a, c) in by_pair:
            worst = max(worst, abs(by_pair[a, b] + by_pair[b, c] - by_pair[a, c]))
    return worst


def one_pass(number, solver):
    rng = np.random.default_rng(number)
    network = measured(rng)
    adjustment = Adjustment(network, solver)
    heights, left = adjustment.run()
    return float(np.abs(heights - network.truth[1:]).max()), adjustment.blunders(left).tolist(), loops(network, rng)


if __name__ == "__main__":
    run(one_pass, solve, solve_fix)
