# SPDX-License-Identifier: Apache-2.0
"""Twins: rows of small pictures are exchanged through a spare one, beside a product of large matrices."""
# guilty: spare[:] = picture[top]
# category: inefficient-algorithm or slice-underutilisation
# guilty: picture[top] = picture[bottom]
# category: inefficient-algorithm or slice-underutilisation
# guilty: picture[bottom] = spare
# category: inefficient-algorithm or slice-underutilisation
# mended: picture[:] = picture[::-1].copy()
# innocent: scatter = features.T @ features

import numpy as np

import listing_runner

RANDOM = np.random.RandomState(25)
PICTURES = RANDOM.rand(200, 48, 16)
FEATURES = RANDOM.standard_normal((800, 150))


def mirror_rows(picture):
    spare = np.empty(picture.shape[1])
    for top in range(len(picture) // 2):
        bottom = len(picture) - 1 - top
        spare[:] = picture[top]
        picture[top] = picture[bottom]
        picture[bottom] = spare


def mirror_at_once(picture):
    picture[:] = picture[::-1].copy()


def describe(features):
    scatter = features.T @ features
    return scatter.trace()


def work(mirror):
    pictures, weights = PICTURES.copy(), np.arange(PICTURES[0].size).reshape(PICTURES[0].shape)
    for picture in pictures:
        mirror(picture)
    return [(pictures * weights).sum()] + [describe(FEATURES[k:]) for k in range(0, 300, 100)]


if __name__ == "__main__":
    listing_runner.run("twins_mirror", __doc__, lambda: work(mirror_rows), lambda: work(mirror_at_once))
