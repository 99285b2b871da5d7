# SPDX-License-Identifier: Apache-2.0
"""A ladder of resistors, capacitors and diodes is run through a burst of noise: at each moment Newton's steps on its banded equations."""

import numpy as np
from scipy.linalg import solveh_banded

from common import run

NODES, MOMENTS, REACH = 420, 40, 7
SPAN, HEAT, LEAK = 2e-6, 0.02585, 1e-12


class Ladder:
    """Resistors along the rail and over every seven nodes, a capacitor and a diode to ground at each."""

    def __init__(self, rng):
        self.along = 1 / rng.uniform(80, 400, NODES - 1)
        self.across = 1 / rng.uniform(2_000, 9_000, NODES - REACH)
        self.store = rng.uniform(0.5, 3.0, NODES) * 1e-9 / SPAN
        self.band = np.zeros((REACH + 1, NODES))
        self.band[-2, 1:] = -self.along
        self.band[0, REACH:] = -self.across
        self.fixed = self.store.copy()
        for wires, reach in ((self.along, 1), (self.across, REACH)):
            self.fixed[reach:] += wires
            self.fixed[:-reach] += wires
        self.leak = LEAK * rng.uniform(0.5, 2.0, NODES)
        self.steps = 0

    def between(self, volts):
        """What flows off from each node through the resistors."""
        off = np.zeros(NODES)
        for wires, reach in ((self.along, 1), (self.across, REACH)):
            flow = wires * (volts[reach:] - volts[:-reach])
            off[reach:] += flow
            off[:-reach] -= flow
        return off

    def current(self, volts):
        """Through the diodes, with its slope; straight on above what a diode can take."""
        most = 0.75
        inside = np.minimum(volts, most) / HEAT
        grown = self.leak * np.exp(inside)
        slope = grown / HEAT
        return grown - self.leak + slope * np.maximum(volts - most, 0.0), slope

    def advance(self, volts, fed):
        """One moment on: the equations are solved anew for each guess, as slopes follow the voltages."""
        guess = volts.copy()
        for _ in range(40):
            through, slope = self.current(guess)
            left = self.between(guess) + self.store * (guess - volts) + through - fed
            self.band[-1] = self.fixed + slope
            move = solveh_banded(self.band, left)
            guess -= np.clip(move, -0.2, 0.2)
            self.steps += 1
            if np.abs(move).max() < 1e-9:
                break
        return guess


class Burst:
    """Current fed into the first nodes: a rising edge and noise upon it."""

    def __init__(self, rng):
        self.rng = rng
        self.level = 0.0

    def at(self, moment):
        self.level = 0.7 * self.level + 0.3 * self.rng.normal(0, 0.004)
        fed = np.zeros(NODES)
        edge = 0.01 * (1 - np.exp(-moment / 5))
        fed[:4] = edge + self.level
        fed[NODES // 2] = 0.2 * edge
        return fed


def front(history, level=0.3):
    """How far along the rail the level is reached, moment by moment."""
    above = history > level
    reach = np.where(above.any(axis=1), above.shape[1] - above[:, ::-1].argmax(axis=1), 0)
    return reach.tolist()


def ringing(history):
    moves = np.diff(history, axis=0)
    turns = (np.sign(moves[1:]) != np.sign(moves[:-1])).sum(axis=0)
    return float(np.abs(moves).max()), int(turns.max())


def one_pass(number, step):
    rng = np.random.default_rng(number)
    ladder, burst = Ladder(rng), Burst(rng)
    volts, history = np.zeros(NODES), []
    for moment in range(MOMENTS):
        volts = ladder.advance(volts, burst.at(moment))
        history.append(volts)
    history = np.array(history)
    lost = float((ladder.current(history[-1])[0] * history[-1]).sum())
    return front(history)[::6], ringing(history), ladder.steps, lost, float(history[-1].mean())


if __name__ == "__main__":
    run(one_pass)
