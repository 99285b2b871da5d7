# SPDX-License-Identifier: Apache-2.0
"""Temperature of a milled plate with heaters: conjugate gradients on a grid, until the residual is small."""

import numpy as np

from common import run

SIDE, TOLERANCE = 48, 1e-6


class Plate:
    """Conduction between the cells of a grid, its edge held at zero; all arrays are used again."""

    def __init__(self, rng):
        thickness = rng.uniform(0.5, 2.0, (SIDE, SIDE))
        self.down = 2 / (1 / thickness[1:] + 1 / thickness[:-1])
        self.right = 2 / (1 / thickness[:, 1:] + 1 / thickness[:, :-1])
        self.loss = np.full((SIDE, SIDE), 0.02)
        self.loss[[0, -1]] += 1.0
        self.loss[:, [0, -1]] += 1.0
        self.flow_down = np.empty_like(self.down)
        self.flow_right = np.empty_like(self.right)

    def diagonal(self):
        total = self.loss.copy()
        total[1:] += self.down
        total[:-1] += self.down
        total[:, 1:] += self.right
        total[:, :-1] += self.right
        return total

    def apply(self, heat, out):
        np.multiply(self.loss, heat, out=out)
        np.subtract(heat[1:], heat[:-1], out=self.flow_down)
        self.flow_down *= self.down
        out[1:] += self.flow_down
        out[:-1] -= self.flow_down
        np.subtract(heat[:, 1:], heat[:, :-1], out=self.flow_right)
        self.flow_right *= self.right
        out[:, 1:] += self.flow_right
        out[:, :-1] -= self.flow_right
        return out


def solve(plate, load):
    heat = np.zeros_like(load)
    rest = load.copy()
    inverse = 1 / plate.diagonal()
    scaled = inverse * rest
    way = scaled.copy()
    drawn = np.empty_like(load)
    slope = np.vdot(rest, scaled)
    goal = TOLERANCE * np.sqrt(np.vdot(load, load))
    steps = 0
    while np.sqrt(np.vdot(rest, rest)) > goal:
        plate.apply(way, drawn)
        length = slope / np.vdot(way, drawn)
        heat += length * way
        rest -= length * drawn
        np.multiply(inverse, rest, out=scaled)
        slope, before = np.vdot(rest, scaled), slope
        way *= slope / before
        way += scaled
        steps += 1
    return heat, steps


def heaters(rng):
    load = np.zeros((SIDE, SIDE))
    for _ in range(5):
        row, column = rng.integers(4, SIDE - 8, 2)
        load[row : row + 4, column : column + 4] += rng.uniform(1, 5)
    return load


def one_pass(number, step):
    rng = np.random.default_rng(number)
    found = []
    for _ in range(4):
        plate = Plate(rng)
        heat, steps = solve(plate, heaters(rng))
        found.append((steps, float(heat.max()), float(heat.mean()), int(heat.argmax())))
    return found


if __name__ == "__main__":
    run(one_pass)
