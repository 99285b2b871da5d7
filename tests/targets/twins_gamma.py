# SPDX-License-Identifier: Apache-2.0
"""Twins: levels of a picture looked up pixel by pixel, beside a sort of whole rows that takes as long."""
# guilty: corrected[row, column] = table[levels[row, column]]
# category: slice-underutilisation
# mended: corrected[:] = table[levels]
# innocent: ordered = np.sort(samples, axis=1)

import numpy as np

import listing_runner

RANDOM = np.random.RandomState(21)
LEVELS = RANDOM.randint(0, 256, (120, 160))
# Another part each time: the same again would be needless work.
SAMPLES = RANDOM.standard_normal((3, 7, 4000))


def correct_pixels(levels, table):
    corrected = np.empty(levels.shape)
    for row in range(levels.shape[0]):
        for column in range(levels.shape[1]):
            corrected[row, column] = table[levels[row, column]]
    return corrected


def correct_picture(levels, table):
    corrected = np.empty(levels.shape)
    corrected[:] = table[levels]
    return corrected


def quantiles(samples):
    ordered = np.sort(samples, axis=1)
    return ordered[:, :: samples.shape[1] // 8]


def work(correct):
    table = (np.arange(256) / 255.0) ** 2.2
    result = [correct(LEVELS, table).sum()]
    return result + [quantiles(samples).sum() for samples in SAMPLES]


if __name__ == "__main__":
    listing_runner.run("twins_gamma", __doc__, lambda: work(correct_pixels), lambda: work(correct_picture))
