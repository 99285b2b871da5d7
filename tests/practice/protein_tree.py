# SPDX-License-Identifier: Apache-2.0
"""How likely a tree of proteins is: chances of change along each branch, sites taken up to the root, gene after gene, against another tree."""

import numpy as np
from scipy.linalg import expm

from common import run

ACIDS, TIPS, GENES, SITES = 20, 22, 6, 160
GRID = np.round(np.arange(1, 11) * 0.04, 2)


def rates(rng):
    """A reversible rate matrix, one change for each unit of branch length."""
    shares = rng.dirichlet(np.full(ACIDS, 8.0))
    swap = rng.gamma(0.6, 1.0, (ACIDS, ACIDS))
    matrix = (swap + swap.T) * shares
    np.fill_diagonal(matrix, 0.0)
    np.fill_diagonal(matrix, -matrix.sum(axis=1))
    return matrix / -(shares @ matrix.diagonal()), shares


def tree(rng):
    """Pairs are joined at random until one is left: (node, left, its length, right, its length)."""
    alive, joins = list(range(TIPS)), []
    for node in range(TIPS, 2 * TIPS - 1):
        left, right = (alive.pop(int(rng.integers(len(alive)))) for _ in range(2))
        joins.append((node, left, float(rng.choice(GRID)), right, float(rng.choice(GRID))))
        alive.append(node)
    return joins


class Model:
    def __init__(self, matrix, shares):
        self.matrix = matrix
        self.shares = shares

    def change(self, length):
        """Chances of each acid to have become each other one along a branch."""
        return expm(self.matrix * length)


class ModelFixed(Model):
    def __init__(self, matrix, shares):
        super().__init__(matrix, shares)
        self.known = {}

    def change(self, length):
        if length not in self.known:
            self.known[length] = super().change(length)
        return self.known[length]


def evolve(rng, model, joins, sites):
    """Sequences at the tips, drawn down from the root."""
    states = {joins[-1][0]: rng.choice(ACIDS, sites, p=model.shares)}
    for node, left, left_length, right, right_length in reversed(joins):
        above = states.pop(node)
        for child, length in ((left, left_length), (right, right_length)):
            steps = model.change(length).cumsum(axis=1)[above]
            states[child] = (rng.random((sites, 1)) > steps).sum(axis=1).clip(max=ACIDS - 1)
    return np.array([states[tip] for tip in range(TIPS)])


def patterns(tips):
    """Columns that are alike are reckoned once, with their number."""
    columns, counts = np.unique(tips.T, axis=0, return_counts=True)
    return columns.T, counts


def likelihood(model, joins, columns, counts):
    unit = np.eye(ACIDS)
    partial = {tip: unit[column] for tip, column in enumerate(columns)}
    scale = np.zeros(columns.shape[1])
    for node, left, left_length, right, right_length in joins:
        part = (partial.pop(left) @ model.change(left_length).T) * (partial.pop(right) @ model.change(right_length).T)
        most = part.max(axis=1)
        partial[node] = part / most[:, None]
        scale += np.log(most)
    return float(counts @ (np.log(partial[joins[-1][0]] @ model.shares) + scale))


def one_pass(number, make):
    rng = np.random.default_rng(number)
    model, rows, missed = make(*rates(rng)), [], 0
    for _ in range(GENES):
        joins = tree(rng)
        tips = evolve(rng, model, joins, SITES)
        columns, counts = patterns(tips)
        true, other = (likelihood(model, tried, columns, counts) for tried in (joins, tree(rng)))
        missed += other > true
        rows.append((true, other, len(counts)))
    return rows, missed


if __name__ == "__main__":
    run(one_pass, Model, ModelFixed)
