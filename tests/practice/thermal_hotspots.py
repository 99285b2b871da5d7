# SPDX-License-Identifier: Apache-2.0
"""Looks for hot spots in frames of a thermal camera on a conveyor."""

import numpy as np

from common import run

ROWS, COLUMNS = 60, 80
AMBIENT = 22.0
Y, X = np.ogrid[:ROWS, :COLUMNS]


def grab(seed):
    rng = np.random.default_rng(seed)
    frame = AMBIENT + rng.normal(0, 0.8, (ROWS, COLUMNS))
    for _ in range(rng.integers(1, 5)):
        r, c = rng.integers(5, ROWS - 5), rng.integers(5, COLUMNS - 5)
        frame += rng.uniform(8, 40) * np.exp(-((Y - r) ** 2 + (X - c) ** 2) / rng.uniform(4, 20))
    dead = rng.integers(0, ROWS * COLUMNS, 25)
    frame.flat[dead] = 0.0
    return frame


def remove_dead_pixels(frame):
    padded = np.pad(frame, 1, mode="edge")
    cross = ((1, 1), (0, 1), (1, 0), (2, 1), (1, 2))
    around = [padded[r : r + ROWS, c : c + COLUMNS] for r, c in cross]
    return np.median(around, axis=0)


def exceedance(frame, limit):
    hot = 0
    heat = 0.0
    for r in range(ROWS):
        for c in range(COLUMNS):
            over = frame[r, c] - limit
            if over > 0:
                hot += 1
                heat += over
    return hot, float(heat)


def exceedance_fixed(frame, limit):
    over = frame - limit
    over = over[over > 0]
    return len(over), float(over.sum())


def hottest_block(frame, size=10):
    blocks = frame.reshape(ROWS // size, size, COLUMNS // size, size).mean(axis=(1, 3))
    return divmod(int(blocks.argmax()), COLUMNS // size)


def one_pass(number, measure):
    alarms = []
    for n in range(60):
        frame = remove_dead_pixels(grab(number * 60 + n))
        limit = np.percentile(frame, 90) + 3
        hot, heat = measure(frame, limit)
        if hot > 4:
            alarms.append((n, hot, heat, hottest_block(frame)))
    return alarms


if __name__ == "__main__":
    run(one_pass, exceedance, exceedance_fixed)
