# SPDX-License-Identifier: Apache-2.0
"""Ripples on a pond for a screen saver: three sheets of water taking turns, and drops that fall on them."""

import numpy as np

from common import run

SIDE = 72
FRAMES = 900


class Pond:
    def __init__(self, speed, damping):
        self.before, self.now, self.next = (np.zeros((SIDE, SIDE)) for _ in range(3))
        self.pull = np.empty((SIDE - 2, SIDE - 2))
        self.speed, self.damping = speed, damping

    def frame(self):
        now, pull = self.now, self.pull
        np.add(now[:-2, 1:-1], now[2:, 1:-1], out=pull)
        pull += now[1:-1, :-2]
        pull += now[1:-1, 2:]
        inner = now[1:-1, 1:-1]
        pull -= 4 * inner
        pull *= self.speed
        pull += 2 * inner - self.before[1:-1, 1:-1]
        pull *= self.damping
        self.next[1:-1, 1:-1] = pull
        self.before, self.now, self.next = self.now, self.next, self.before

    def drop(self, x, y, weight):
        self.now[y - 1 : y + 2, x - 1 : x + 2] -= weight

    def glitter(self):
        return float(np.abs(self.now).max())


def one_pass(number, step):
    rng = np.random.default_rng(number)
    pond = Pond(0.2 + 0.1 * rng.random(), 0.993)
    drops = rng.integers(3, SIDE - 3, (FRAMES, 2)).tolist()
    falls = (rng.random(FRAMES) < 0.05).tolist()
    bright = []
    for at in range(FRAMES):
        if falls[at]:
            pond.drop(*drops[at], 1 + at % 3)
        pond.frame()
        if at % 5 == 0:
            bright.append(pond.glitter())
    return bright[-4:], float(np.square(pond.now).sum())


if __name__ == "__main__":
    run(one_pass)
