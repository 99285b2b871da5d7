# SPDX-License-Identifier: Apache-2.0
"""Heat spreading over a plate with a moving torch; two buffers that change in place."""

import numpy as np

from common import run

SIZE = 160
ALPHA = 0.2


class Plate:
    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)
        self.now = 20 + self.rng.normal(0, 0.5, (SIZE, SIZE))
        self.after = self.now.copy()
        self.scratch = np.empty((SIZE - 2, SIZE - 2))
        self.torch = self.rng.uniform(30, SIZE - 30, 2)
        self.aim = self.rng.uniform(-2, 2, 2)

    def spread(self):
        now, work = self.now, self.scratch
        np.multiply(now[1:-1, 1:-1], -4.0, out=work)
        work += now[:-2, 1:-1]
        work += now[2:, 1:-1]
        work += now[1:-1, :-2]
        work += now[1:-1, 2:]
        work *= ALPHA
        np.add(now[1:-1, 1:-1], work, out=self.after[1:-1, 1:-1])

    def edges(self):
        after = self.after
        after[0] = after[1]
        after[-1] = after[-2]
        after[:, 0] = after[:, 1]
        after[:, -1] = after[:, -2]

    def heat(self):
        self.torch += self.aim
        for axis in (0, 1):
            if not 8 < self.torch[axis] < SIZE - 8:
                self.aim[axis] = -self.aim[axis]
        row, column = self.torch.astype(int)
        self.after[row - 3 : row + 4, column - 3 : column + 4] += 6.0

    def step(self):
        self.spread()
        self.edges()
        self.heat()
        self.now, self.after = self.after, self.now


def glowing(plate, limit=60.0):
    return int(np.count_nonzero(plate.now > limit))


def one_pass(number, _):
    plate = Plate(number)
    area = []
    for n in range(1500):
        plate.step()
        if n % 50 == 49:
            area.append(glowing(plate))
    return area, float(plate.now.sum())


if __name__ == "__main__":
    run(one_pass)
