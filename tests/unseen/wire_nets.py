# SPDX-License-Identifier: Apache-2.0
"""Voltages in nets of wires and diodes, sought by Newton's steps, as a hobbyist's circuit simulator does it."""

import numpy as np
from scipy import linalg

from runner import run

NODES = 180
NETS = 3
LEAK = 1e-3


class Net:
    """Wires between nodes, each node with a diode to earth and a current that is fed in."""

    def __init__(self, rng):
        ends = rng.integers(0, NODES, (3 * NODES, 2))
        ends = ends[ends[:, 0] != ends[:, 1]]
        ring = np.stack([np.arange(NODES), np.roll(np.arange(NODES), 1)], axis=1)
        self.ends = np.concatenate([ring, ends])
        self.conductance = rng.uniform(0.02, 0.4, len(self.ends))
        self.fed = rng.uniform(0.0, 0.02, NODES)
        self.wires = np.zeros((NODES, NODES))
        one, other = self.ends.T
        np.add.at(self.wires, (one, one), self.conductance)
        np.add.at(self.wires, (other, other), self.conductance)
        np.add.at(self.wires, (one, other), -self.conductance)
        np.add.at(self.wires, (other, one), -self.conductance)

    def missing(self, volts):
        """What flows out of each node more than is fed in."""
        diode = 1e-9 * np.expm1(np.minimum(volts / 0.026, 60))
        return self.wires @ volts + LEAK * volts + diode - self.fed

    def slopes(self, volts):
        matrix = self.wires.copy()
        diode = 1e-9 / 0.026 * np.exp(np.minimum(volts / 0.026, 60))
        matrix.flat[:: NODES + 1] += LEAK + diode
        return matrix

    def step(self, volts, missing):
        return linalg.inv(self.slopes(volts)) @ missing

    def settle(self):
        volts = np.full(NODES, 0.3)
        for steps in range(1, 60):
            missing = self.missing(volts)
            if np.abs(missing).max() < 1e-11:
                break
            volts = volts - np.clip(self.step(volts, missing), -0.05, 0.05)
        return volts, steps

    def losses(self, volts):
        one, other = self.ends.T
        drop = volts[one] - volts[other]
        watts = self.conductance * drop**2
        hottest = int(watts.argmax())
        return float(watts.sum()), hottest


class NetFixed(Net):
    def step(self, volts, missing):
        return linalg.solve(self.slopes(volts), missing)


def one_pass(number, step):
    rng = np.random.default_rng(number)
    sheet = []
    for _ in range(NETS):
        net = step(rng)
        volts, _ = net.settle()
        watts, hottest = net.losses(volts)
        sheet.append((round(float(volts.max()), 6), round(float(volts.min()), 6), round(watts, 9), hottest))
    return sheet


if __name__ == "__main__":
    run(one_pass, Net, NetFixed)
