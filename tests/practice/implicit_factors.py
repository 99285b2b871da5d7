# SPDX-License-Identifier: Apache-2.0
"""Trains a music service's recommender on counted plays: factors of listeners and tracks by turns, then a list for each listener."""

import numpy as np
from scipy import sparse
from scipy.linalg import cho_factor, cho_solve

from common import run

MODELS = {}


def model(kind):
    """Class decorator: models are asked for by the name that the configuration has."""

    def enter(cls):
        MODELS[kind] = cls
        return cls

    return enter


class FactorModel:
    """What all models have: factors of both sides, sweeps, and lists."""

    def __init__(self, rng, shape, factors=32, sweeps=2):
        self.listeners = rng.normal(0, 0.1, (shape[0], factors))
        self.tracks = rng.normal(0, 0.1, (shape[1], factors))
        self.sweeps = sweeps
        self.losses = []

    def half_step(self, mine, others, table):
        raise NotImplementedError

    def fit(self, plays):
        turned = plays.T.tocsr()
        for _ in range(self.sweeps):
            self.half_step(self.listeners, self.tracks, plays)
            self.half_step(self.tracks, self.listeners, turned)
            self.losses.append(self.loss(plays))
        return self

    def loss(self, plays):
        rows = np.repeat(np.arange(plays.shape[0]), np.diff(plays.indptr))
        guessed = np.einsum("ij,ij->i", self.listeners[rows], self.tracks[plays.indices])
        return float(((1 - guessed) ** 2 * plays.data).mean())

    def recommend(self, plays, count=10):
        scores = self.listeners @ self.tracks.T
        scores[plays.nonzero()] = -np.inf
        best = np.argpartition(-scores, count, axis=1)[:, :count]
        order = np.take_along_axis(-scores, best, axis=1).argsort(axis=1)
        return np.take_along_axis(best, order, axis=1)


@model("weighted")
class WeightedSquares(FactorModel):
    """Every pair counts a little; played ones count by how often."""

    alpha, ridge = 12.0, 0.08

    def half_step(self, mine, others, table):
        for at in range(len(mine)):
            part = slice(table.indptr[at], table.indptr[at + 1])
            mine[at] = self.solve(others, table.indices[part], table.data[part])

    def everything(self, others):
        return others.T @ others

    def system(self, others, near, trust):
        left = self.everything(others) + (near.T * trust) @ near
        left[np.diag_indices_from(left)] += self.ridge
        return left, near.T @ (trust + 1)

    def solve(self, others, places, counts):
        left, right = self.system(others, others[places], self.alpha * np.log1p(counts))
        return cho_solve(cho_factor(left, lower=True, check_finite=False), right, check_finite=False)


@model("weighted-fixed")
class WeightedSquaresFixed(WeightedSquares):
    def half_step(self, mine, others, table):
        self.whole = others.T @ others
        super().half_step(mine, others, table)

    def everything(self, others):
        return self.whole


def history(rng, listeners=180, tracks=600, tastes=6):
    """Plays: each listener has a taste or two, each track some of each."""
    taste = rng.dirichlet(np.full(tastes, 0.4), listeners)
    kind = rng.dirichlet(np.full(tastes, 0.4), tracks)
    chance = taste @ kind.T
    counts = rng.poisson(chance * rng.gamma(0.6, 1.2, (listeners, tracks)))
    counts[np.arange(listeners), rng.integers(tracks, size=listeners)] += 1
    return sparse.csr_matrix(counts.astype(float))


def hits(lists, kept):
    found = [len(set(row) & set(wanted)) / max(len(wanted), 1) for row, wanted in zip(lists.tolist(), kept)]
    return sum(found) / len(found)


def one_pass(number, kind):
    rng = np.random.default_rng(number)
    plays = history(rng)
    fitted = MODELS[kind](rng, plays.shape).fit(plays)
    lists = fitted.recommend(plays)
    kept = rng.integers(plays.shape[1], size=(plays.shape[0], 4)).tolist()
    return fitted.losses, hits(lists, kept), float(np.abs(fitted.tracks).sum())


if __name__ == "__main__":
    run(one_pass, "weighted", "weighted-fixed")
