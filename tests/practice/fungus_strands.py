# SPDX-License-Identifier: Apache-2.0
"""Mycologists map a wood: fruit bodies joined by strands below ground are one colony; sizes, spans and neighbours are reported."""

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from common import run

BODIES, STRANDS = 2_400, 1_700


class Wood:
    def __init__(self, rng):
        middles = rng.uniform(0, 500, (120, 2))
        self.places = middles[rng.integers(0, 120, BODIES)] + rng.normal(0, 6, (BODIES, 2))
        self.weights = rng.gamma(2.0, 30, BODIES)
        self.kinds = rng.integers(0, 5, BODIES)
        order = np.lexsort((self.places[:, 1], self.places[:, 0]))
        first = rng.integers(0, BODIES - 8, STRANDS)
        pairs = np.column_stack([order[first], order[first + rng.integers(1, 8, STRANDS)]])
        self.strands = pairs[np.hypot(*(self.places[pairs[:, 0]] - self.places[pairs[:, 1]]).T) < 160]


def joined(count, strands):
    """A number of each body's colony: that of one of its bodies."""
    numbers = np.arange(count)
    for one, other in strands:
        if numbers[one] != numbers[other]:
            numbers[numbers == numbers[other]] = numbers[one]
    return numbers


def joined_fixed(count, strands):
    links = sparse.coo_matrix((np.ones(len(strands)), strands.T), shape=(count, count))
    return connected_components(links, directed=False)[1]


class Colony:
    def __init__(self, wood, members):
        self.size = members.size
        self.places = wood.places[members]
        self.weights = wood.weights[members]
        self.kinds = np.bincount(wood.kinds[members], minlength=5)

    def middle(self):
        return self.weights @ self.places / self.weights.sum()

    def span(self):
        """The longest way across, by the main direction of the places."""
        away = self.places - self.places.mean(axis=0)
        xx, xy, yy = float(away[:, 0] @ away[:, 0]), float(away[:, 0] @ away[:, 1]), float(away[:, 1] @ away[:, 1])
        turn = 0.5 * np.arctan2(2 * xy, xx - yy)
        along = away @ (np.cos(turn), np.sin(turn))
        return float(along.max() - along.min())

    def mixed(self):
        """Chance that two of it are of different kinds."""
        share = self.kinds / self.size
        return 1.0 - float(share @ share)


class Report:
    def __init__(self, wood, joined):
        numbers = joined(BODIES, wood.strands)
        order = np.argsort(numbers, kind="stable")
        edges = np.flatnonzero(np.diff(numbers[order])) + 1
        groups = [group for group in np.split(order, edges) if group.size > 2]
        groups.sort(key=lambda group: (-group.size, group[0]))
        self.colonies = [Colony(wood, group) for group in groups]

    def largest(self):
        for colony in self.colonies[:3]:
            x, y = colony.middle()
            yield "%d bodies about %.1f, %.1f, span %.1f" % (colony.size, x, y, colony.span())

    def sums(self):
        spans = np.array([colony.span() for colony in self.colonies])
        mixed = np.array([colony.mixed() for colony in self.colonies])
        sizes = np.array([colony.size for colony in self.colonies])
        return float(spans.mean()), float(np.corrcoef(sizes, spans)[0, 1]), float(mixed @ sizes / sizes.sum())


def one_pass(number, joined):
    report = Report(Wood(np.random.default_rng(number)), joined)
    return len(report.colonies), list(report.largest()), report.sums()


if __name__ == "__main__":
    run(one_pass, joined, joined_fixed)
