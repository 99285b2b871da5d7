# SPDX-License-Identifier: Apache-2.0
"""A lidar on a tower crane: brings clusters of points into site coordinates and measures each."""

from dataclasses import dataclass

import numpy as np

from runner import run


@dataclass
class Pose:
    turn: np.ndarray
    shift: np.ndarray

    @classmethod
    def about(cls, axis, angle, shift):
        c, s = np.cos(angle), np.sin(angle)
        i, j = [(1, 2), (2, 0), (0, 1)][axis]
        turn = np.eye(3)
        turn[i, i] = turn[j, j] = c
        turn[i, j], turn[j, i] = -s, s
        return cls(turn, np.asarray(shift, dtype=float))

    def __matmul__(self, inner):
        return Pose(self.turn @ inner.turn, self.turn @ inner.shift + self.shift)

    def __call__(self, points):
        return points @ self.turn.T + self.shift


@dataclass
class Load:
    centre: np.ndarray
    size: np.ndarray
    tilt: float


def sweep(rng, clusters):
    """What one turn of the lidar gives: the angles of the joints and clusters of points."""
    angles = rng.uniform(-0.6, 0.6, 3)
    counts = rng.integers(20, 60, clusters)
    points = rng.normal(0, (1.5, 0.6, 0.3), (counts.sum(), 3))
    points += np.repeat(rng.uniform(-30, 30, (clusters, 3)), counts, axis=0)
    return angles, np.split(points, counts.cumsum()[:-1])


def joints(angles, reach):
    rail = Pose.about(2, 0.3, (reach * 4, 12.0, 0))
    slew = Pose.about(2, angles[0], (0, 0, 48.0))
    jib = Pose.about(1, 0.05 * angles[1], (0, 0, 2.5))
    trolley = Pose.about(0, 0.1 * angles[2], (reach, 0, -1.0))
    cradle = Pose.about(2, -angles[0], (0, 0, -0.8))
    sensor = Pose.about(1, np.pi / 2, (0.2, 0.1, -0.4))
    return rail, slew, jib, trolley, cradle, sensor


def measure(points):
    centre = points.mean(axis=0)
    off = points - centre
    spread, axes = np.linalg.eigh(off.T @ off / len(off))
    return Load(centre, np.sqrt(spread), float(abs(axes[2, 0])))


def place(clusters, rail, slew, jib, trolley, cradle, sensor):
    loads = []
    for points in clusters:
        on_site = (rail @ slew @ jib @ trolley @ cradle @ sensor)(points)
        loads.append(measure(on_site))
    return loads


def place_fixed(clusters, rail, slew, jib, trolley, cradle, sensor):
    loads = []
    to_site = rail @ slew @ jib @ trolley @ cradle @ sensor
    for points in clusters:
        on_site = to_site(points)
        loads.append(measure(on_site))
    return loads


def one_pass(number, put):
    rng = np.random.default_rng(number)
    highest, tilted, flat = [], 0, 0.0
    for turn in range(12):
        angles, clusters = sweep(rng, 150)
        loads = put(clusters, *joints(angles, 20.0 + turn))
        highest.append(float(max(load.centre[2] for load in loads)))
        tilted += sum(load.tilt < 0.9 for load in loads)
        flat += float(min(load.size[0] for load in loads))
    return highest, tilted, flat


if __name__ == "__main__":
    run(one_pass, place, place_fixed)
