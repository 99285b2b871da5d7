# SPDX-License-Identifier: Apache-2.0
"""Twins of long calls alone: one inverse of the same matrix for every bunch, beside inverses that differ."""
# guilty: inverse = np.linalg.inv(covariance)  # anew
# category: loop-invariant or repeated-call
# mended: inverse = np.linalg.inv(covariance)  # once
# innocent: result += np.linalg.inv(matrix)[0, 0]

import numpy as np

import listing_runner

SIZE = 90
RANDOM = np.random.RandomState(27)
BUNCHES = RANDOM.standard_normal((60, SIZE))
COVARIANCE = np.cov(RANDOM.standard_normal((SIZE, 400)))
MATRICES = RANDOM.standard_normal((40, SIZE, SIZE)) + 12 * np.eye(SIZE)


def whiten(bunches, covariance):
    lengths = []
    for bunch in bunches:
        inverse = np.linalg.inv(covariance)  # anew
        lengths.append(bunch @ inverse @ bunch)
    return lengths


def whiten_fixed(bunches, covariance):
    lengths = []
    inverse = np.linalg.inv(covariance)  # once
    for bunch in bunches:
        lengths.append(bunch @ inverse @ bunch)
    return lengths


def corners(matrices):
    result = 0.0
    for matrix in matrices:
        result += np.linalg.inv(matrix)[0, 0]
    return result


def work(whitener):
    return [np.sum(whitener(BUNCHES, COVARIANCE)), corners(MATRICES)]


if __name__ == "__main__":
    listing_runner.run("twins_whitening", __doc__, lambda: work(whiten), lambda: work(whiten_fixed), tolerance=1e-6)
