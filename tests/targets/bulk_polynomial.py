# SPDX-License-Identifier: Apache-2.0
"""Bulk work repeated: the same design matrix is decomposed for every response, beside windows that differ."""
# guilty: basis, triangle = np.linalg.qr(design)  # anew
# category: loop-invariant or repeated-call
# mended: basis, triangle = np.linalg.qr(design)  # once
# innocent: rotated, scales = np.linalg.qr(window)

import numpy as np

import listing_runner

RANDOM = np.random.RandomState(31)
POINTS, DEGREE = 150, 40
DESIGN = np.vander(np.linspace(-1, 1, POINTS), DEGREE)
RESPONSES = RANDOM.standard_normal((24, POINTS))
SERIES = RANDOM.standard_normal((24 * POINTS, DEGREE))


def fit(responses, design):
    fits = []
    for response in responses:
        basis, triangle = np.linalg.qr(design)  # anew
        fits.append(np.linalg.norm(basis.T @ response) + triangle[0, 0])
    return fits


def fit_fixed(responses, design):
    fits = []
    basis, triangle = np.linalg.qr(design)  # once
    for response in responses:
        fits.append(np.linalg.norm(basis.T @ response) + triangle[0, 0])
    return fits


def volumes(series):
    result = 0.0
    for window in series.reshape(-1, POINTS, DEGREE):
        rotated, scales = np.linalg.qr(window)
        result += abs(scales[-1, -1]) + rotated[0, 0] ** 2
    return result


def work(fitter):
    return [np.sum(fitter(RESPONSES, DESIGN)), volumes(SERIES)]


if __name__ == "__main__":
    listing_runner.run("bulk_polynomial", __doc__, lambda: work(fit), lambda: work(fit_fixed), tolerance=1e-6)
