# SPDX-License-Identifier: Apache-2.0
"""Listing 4: columns of a matrix are brought to its end by swapping neighbours.

The features that explain least are dropped from a linear model one after the
other. The active ones stand first, so the dropped one moves behind them: one
call of BLAS' swap and two assignments for every column on its way. --fixed
moves it there at once. Fitting the model is bulk work in both versions.
"""
# guilty: X.T[i], X.T[i + 1] = swap(X.T[i], X.T[i + 1])
# category: inefficient-algorithm
# guilty: indices[i], indices[i + 1] = indices[i + 1], indices[i]
# category: inefficient-algorithm or slice-underutilisation
# mended: X.T[first:last] = X.T[first + 1 : last + 1].copy()
# mended: indices[first:last] = indices[first + 1 : last + 1].copy()
# innocent: gram = active.T @ active

import numpy as np
from scipy import linalg
from sklearn.preprocessing import scale

import listing_runner

SAMPLES, FEATURES, KEPT = 160, 60, 20


def make_data(seed=4):
    random = np.random.RandomState(seed)
    X = random.standard_normal((SAMPLES, FEATURES))
    weights = random.permutation(np.linspace(0, 2, FEATURES))
    y = X @ weights + random.standard_normal(SAMPLES)
    return scale(X), y - y.mean()


def swap_to_end(X, indices, first, last):
    (swap,) = linalg.get_blas_funcs(("swap",), (X,))
    for i in range(first, last):
        X.T[i], X.T[i + 1] = swap(X.T[i], X.T[i + 1])
        indices[i], indices[i + 1] = indices[i + 1], indices[i]


def move_to_end(X, indices, first, last):
    column, index = X[:, first].copy(), indices[first]
    X.T[first:last] = X.T[first + 1 : last + 1].copy()
    indices[first:last] = indices[first + 1 : last + 1].copy()
    X[:, last], indices[last] = column, index


def fit(active, y):
    gram = active.T @ active
    return linalg.cho_solve(linalg.cho_factor(gram), active.T @ y)


DATA, RESPONSE = make_data()


def select(to_end):
    X = np.array(DATA, order="F")
    indices = np.arange(FEATURES)
    for count in range(FEATURES, KEPT, -1):
        weakest = int(np.abs(fit(X[:, :count], RESPONSE)).argmin())
        to_end(X, indices, weakest, count - 1)
    return np.concatenate([indices, fit(X[:, :KEPT], RESPONSE)])


if __name__ == "__main__":
    listing_runner.run("listing_04_swap", __doc__, lambda: select(swap_to_end), lambda: select(move_to_end))
