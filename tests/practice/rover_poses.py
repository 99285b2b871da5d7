# SPDX-License-Identifier: Apache-2.0
"""Where a rover has been: its wheels' steps and the places that it saw again are brought together by damped least squares on a graph of poses."""

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import splu

from common import run

POSES = 240
CLOSURES = 50


def wrapped(angle):
    return (angle + np.pi) % (2 * np.pi) - np.pi


class Drive:
    """A true way, and what was measured from pose to pose along it."""

    def __init__(self, rng):
        turn = np.cumsum(rng.normal(0.1, 0.25, POSES))
        self.truth = np.column_stack((np.cumsum(np.cos(turn)), np.cumsum(np.sin(turn)), turn))
        ends = rng.integers(0, POSES, (4 * CLOSURES, 2))
        ends = ends[np.abs(ends[:, 0] - ends[:, 1]) > 3][:CLOSURES]
        steps = np.column_stack((np.arange(POSES - 1), np.arange(1, POSES)))
        self.edges = np.sort(np.vstack((steps, ends)), axis=1)
        self.trust = np.where(np.arange(len(self.edges)) < POSES - 1, 10.0, 20.0)
        self.seen = between(self.truth[self.edges[:, 0]], self.truth[self.edges[:, 1]])
        self.seen += rng.normal(0, 1, self.seen.shape) / (3 * self.trust[:, None])
        self.guess = self.dead_reckoning()

    def dead_reckoning(self):
        forward, left, turn = self.seen[: POSES - 1].T
        poses = np.tile(self.truth[0], (POSES, 1))
        poses[1:, 2] += np.cumsum(turn)
        c, s = np.cos(poses[:-1, 2]), np.sin(poses[:-1, 2])
        poses[1:, 0] += np.cumsum(c * forward - s * left)
        poses[1:, 1] += np.cumsum(s * forward + c * left)
        return poses


def between(first, second):
    """The second pose as the first one sees it."""
    dx, dy = (second - first)[:, :2].T
    c, s = np.cos(first[:, 2]), np.sin(first[:, 2])
    return np.column_stack((c * dx + s * dy, c * dy - s * dx, wrapped(second[:, 2] - first[:, 2])))


class Graph:
    def __init__(self, drive):
        self.drive = drive
        self.first, self.second = drive.edges.T
        count = len(drive.edges)
        columns = np.hstack((3 * self.first[:, None] + np.arange(3), 3 * self.second[:, None] + np.arange(3)))
        indices = np.repeat(columns, 3, axis=0).ravel()
        starts = 6 * np.arange(3 * count + 1)
        self.slopes = sparse.csr_matrix((np.zeros(len(indices)), indices, starts), shape=(3 * count, 3 * POSES))
        self.hold = np.zeros(3 * POSES)
        self.hold[:3] = 1e6
        self.blocks = np.zeros((count, 3, 6))
        self.blocks[:, 2, 2], self.blocks[:, 2, 5] = -1, 1

    def misfits(self, poses):
        away = between(poses[self.first], poses[self.second]) - self.drive.seen
        away[:, 2] = wrapped(away[:, 2])
        return (away * self.drive.trust[:, None]).ravel()

    def linearise(self, poses):
        """Slopes of all misfits, put into the one sparse matrix whose pattern stays."""
        dx, dy = (poses[self.second] - poses[self.first])[:, :2].T
        c, s = np.cos(poses[self.first, 2]), np.sin(poses[self.first, 2])
        rows = self.blocks
        rows[:, 0, 0], rows[:, 0, 1], rows[:, 0, 2] = -c, -s, c * dy - s * dx
        rows[:, 1, 0], rows[:, 1, 1], rows[:, 1, 2] = s, -c, -c * dx - s * dy
        rows[:, 0, 3], rows[:, 0, 4], rows[:, 1, 3], rows[:, 1, 4] = c, s, -s, c
        self.slopes.data[:] = (rows * self.drive.trust[:, None, None]).ravel()
        return self.slopes.T @ self.slopes

    def solve(self, rounds=12):
        poses, damping = self.drive.guess, 1e-3
        away = self.misfits(poses)
        price = away @ away
        normal, down = self.linearise(poses), self.slopes.T @ away
        for _ in range(rounds):
            held = normal + sparse.diags_array(self.hold + damping * normal.diagonal())
            step = splu(held.tocsc()).solve(down)
            tried = poses - step.reshape(-1, 3)
            away = self.misfits(tried)
            if away @ away >= price:
                damping *= 8
                continue
            gained, price = price - away @ away, away @ away
            poses, damping = tried, damping / 4
            if gained < 1e-7 * price:
                break
            normal, down = self.linearise(poses), self.slopes.T @ away
        return poses, float(price)


def one_pass(number, _):
    rng = np.random.default_rng(number)
    report = []
    for _ in range(3):
        drive = Drive(rng)
        poses, price = Graph(drive).solve()
        off = np.hypot(*(poses - drive.truth)[:, :2].T)
        report.append((price, float(off.max())))
    return report


if __name__ == "__main__":
    run(one_pass, None)
