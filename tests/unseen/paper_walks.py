# SPDX-License-Identifier: Apache-2.0
"""Suggests papers to read: a walk along citations starts anew at what the reader knows; what it meets often is suggested."""

import numpy as np
from scipy import sparse

from runner import run

PAPERS = 1200
NEWNESS = np.arange(PAPERS) / PAPERS


def citations(rng):
    """Later papers cite earlier ones, famous ones more; both ways count for the walk."""
    citing = np.repeat(np.arange(1, PAPERS), rng.integers(1, 16, PAPERS - 1))
    cited = (citing * rng.random(citing.size) ** 1.7).astype(int)
    weights = rng.uniform(0.5, 1.5, citing.size)
    one_way = sparse.coo_matrix((weights, (citing, cited)), shape=(PAPERS, PAPERS)).tocsr()
    return one_way + 0.5 * one_way.T.tocsr()


class Library:
    def __init__(self, links):
        self.links = links
        self.degrees = np.asarray(links.sum(axis=1)).ravel() + 1e-9
        self.fame = self.degrees**0.3

    def steps(self):
        """By which chance the walk goes on from a paper to the next."""
        return (sparse.diags(1 / self.degrees) @ self.links).T.tocsr()

    def walk(self, known, restart=0.2, most=40):
        start = np.zeros(PAPERS)
        start[known] = 1 / len(known)
        here = start
        anew = restart * start
        for turn in range(most):
            there = (1 - restart) * (self.steps() @ here) + anew
            change = np.abs(there - here).sum()
            here = there
            if change < 1e-3:
                break
        return here, turn


class LibraryFixed(Library):
    def __init__(self, links):
        super().__init__(links)
        self.made = super().steps()

    def steps(self):
        return self.made


class Reader:
    def __init__(self, rng, name):
        self.name = name
        self.known = np.unique(rng.integers(0, PAPERS, rng.integers(3, 12)))
        self.likes_new = rng.uniform(0, 0.5)

    def rank(self, chances, fame):
        worth = chances / fame * (1 + self.likes_new * NEWNESS)
        worth[self.known] = 0
        best = np.argpartition(-worth, 8)[:8]
        return best[np.argsort(-worth[best], kind="stable")]


def overlap(links, papers):
    """How closely the suggested ones cite each other."""
    inner = links[papers][:, papers]
    return float(inner.sum())


def one_pass(number, kind):
    rng = np.random.default_rng(number)
    library = kind(citations(rng))
    suggestions, turns = [], 0
    for at in range(3):
        reader = Reader(rng, "reader %d" % at)
        chances, turn = library.walk(reader.known)
        papers = reader.rank(chances, library.fame)
        reader.known = np.union1d(reader.known, papers[:2])
        turns += turn
        suggestions.append((papers.tolist(), overlap(library.links, papers)))
    return turns, suggestions


if __name__ == "__main__":
    run(one_pass, Library, LibraryFixed)
