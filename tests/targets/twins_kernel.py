# SPDX-License-Identifier: Apache-2.0
"""Twins: a kernel of a smoother computed anew for each point, beside distances of all points at once."""
# guilty: kernel = np.exp(-0.5 * (offsets / width) ** 2)  # anew
# category: loop-invariant
# mended: kernel = np.exp(-0.5 * (offsets / width) ** 2)  # once
# innocent: distances = np.sqrt(((points[:, None, :] - centres[None, :, :]) ** 2).sum(axis=2))

import numpy as np

import listing_runner

RANDOM = np.random.RandomState(24)
SERIES = RANDOM.standard_normal(4000).cumsum()
POINTS, CENTRES = RANDOM.rand(10000, 3), RANDOM.rand(60, 3)


def smooth(series, width, radius=24):
    offsets, result = np.arange(-radius, radius + 1), []
    for k in range(radius, len(series) - radius):
        kernel = np.exp(-0.5 * (offsets / width) ** 2)  # anew
        result.append(kernel.dot(series[k - radius : k + radius + 1]))
    return np.array(result)


def smooth_fixed(series, width, radius=24):
    offsets, result = np.arange(-radius, radius + 1), []
    kernel = np.exp(-0.5 * (offsets / width) ** 2)  # once
    for k in range(radius, len(series) - radius):
        result.append(kernel.dot(series[k - radius : k + radius + 1]))
    return np.array(result)


def nearest(points, centres):
    distances = np.sqrt(((points[:, None, :] - centres[None, :, :]) ** 2).sum(axis=2))
    return distances.min(axis=1)


def work(smoother):
    return [smoother(SERIES, 7.5).sum(), nearest(POINTS, CENTRES).sum(), nearest(POINTS, CENTRES[::2]).sum()]


if __name__ == "__main__":
    listing_runner.run("twins_kernel", __doc__, lambda: work(smooth), lambda: work(smooth_fixed))
