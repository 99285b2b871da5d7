# SPDX-License-Identifier: Apache-2.0
"""A reservoir of neurons learns the hum of a mill's gear and tells when a tooth is worn."""

import numpy as np

from common import run

CELLS = 90
HISTORY = 1_600


def gear(rng):
    turn = np.cumsum(0.2 + rng.normal(0, 0.004, HISTORY))
    hum = np.sin(turn) + 0.4 * np.sin(3 * turn + 0.5) + rng.normal(0, 0.02, HISTORY)
    hum[HISTORY // 2 :] += 0.3 * (np.sin(turn[HISTORY // 2 :]) > 0.98)
    return hum


class Reservoir:
    def __init__(self, rng):
        links = rng.normal(0, 1, (CELLS, CELLS)) * (rng.random((CELLS, CELLS)) < 0.15)
        self.links = 0.9 * links / np.abs(np.linalg.eigvals(links)).max()
        self.feed = rng.uniform(-1, 1, CELLS)
        self.state = np.zeros(CELLS)

    def hear(self, value):
        self.state = np.tanh(self.links @ self.state + self.feed * value)
        return self.state

    def listen(self, sound):
        return np.array([self.hear(value) for value in sound])


def one_pass(number, step):
    rng = np.random.default_rng(number)
    hum = gear(rng)
    reservoir = Reservoir(rng)
    states = reservoir.listen(hum[:-1].tolist())
    known = slice(100, HISTORY // 2)
    seen, wanted = states[known], hum[1:][known]
    weights = np.linalg.solve(seen.T @ seen + 1e-3 * np.eye(CELLS), seen.T @ wanted)
    off = np.abs(states @ weights - hum[1:])
    normal = float(off[known].mean())
    worn = float(off[HISTORY // 2 :].mean())
    return normal, worn, int((off > 6 * normal).sum())


if __name__ == "__main__":
    run(one_pass)
