# SPDX-License-Identifier: Apache-2.0
"""A wall of fisheye cameras in a car park: frames are straightened, compared and searched for movement."""

import numpy as np
from scipy import ndimage

from common import run

ROWS, COLUMNS = 72, 96


def rays(rows, columns, strength):
    """Where in the bent picture each point of the straight one is found."""
    y, x = np.mgrid[0:rows, 0:columns]
    y, x = y - (rows - 1) / 2, x - (columns - 1) / 2
    radius = np.hypot(y, x) + 1e-9
    bent = np.arctan(radius * strength) / (radius * strength)
    return np.stack((y * bent + (rows - 1) / 2, x * bent + (columns - 1) / 2))


def straightened(frame, strength):
    return ndimage.map_coordinates(frame, rays(*frame.shape, strength), order=1, mode="nearest")


class Straightener:
    """Keeps the rays of the last lens."""

    def __init__(self):
        self.lens = self.rays = None

    def __call__(self, frame, strength):
        if self.lens != (frame.shape, strength):
            self.lens = frame.shape, strength
            self.rays = rays(*frame.shape, strength)
        return ndimage.map_coordinates(frame, self.rays, order=1, mode="nearest")


def film(rng, frames):
    ground = ndimage.gaussian_filter(rng.normal(90, 40, (ROWS, COLUMNS)), 3)
    at = rng.uniform(15, 55, 2)
    speed = rng.normal(0, 2.5, 2)
    for _ in range(frames):
        at = (at + speed) % (ROWS, COLUMNS)
        frame = ground + rng.normal(0, 1.0, ground.shape)
        row, column = at.astype(int)
        frame[row : row + 7, column : column + 9] += 60
        yield frame


def moved(before, after):
    change = ndimage.uniform_filter(np.abs(after - before), 3) > 12
    labels, many = ndimage.label(change)
    if not many:
        return []
    sizes = ndimage.sum_labels(change, labels, np.arange(1, many + 1))
    centres = ndimage.center_of_mass(change, labels, np.flatnonzero(sizes >= 12) + 1)
    return [(round(float(r), 3), round(float(c), 3)) for r, c in centres]


def watch(frames, strength, straighten):
    before, trail = None, []
    for frame in frames:
        now = straighten(frame, strength)
        if before is not None:
            trail.extend(moved(before, now))
        before = now
    return trail


def one_pass(number, straighten):
    rng = np.random.default_rng(number)
    seen = []
    for strength in np.round(rng.uniform(0.008, 0.02, 4), 4).tolist():
        trail = watch(film(rng, 12), strength, straighten)
        seen.append((len(trail), sum(r + c for r, c in trail)))
    return seen


if __name__ == "__main__":
    run(one_pass, straightened, Straightener())
