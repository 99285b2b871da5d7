# SPDX-License-Identifier: Apache-2.0
"""Incomes of parishes: how evenly they are spread, where the poorest tenth ends, and what a flat allowance would change."""

import numpy as np

from common import run

PARISHES, HOUSES = 25, 3_000


def households(rng):
    """Each parish has its own level and spread; a few houses live off rents."""
    for parish in range(PARISHES):
        level = rng.normal(10.2, 0.15)
        incomes = rng.lognormal(level, rng.uniform(0.3, 0.7), HOUSES + int(rng.integers(0, 900)))
        rents = rng.random(incomes.size) < 0.03
        incomes[rents] += rng.pareto(2.5, int(rents.sum())) * 40_000
        yield parish, incomes


def lorenz(ordered):
    """Share of all income that the poorest have together, for each number of them."""
    sums = np.cumsum(ordered)
    return sums / sums[-1]


def gini(ordered):
    ranks = np.arange(1, ordered.size + 1)
    return 2 * float(ranks @ ordered) / (ordered.size * float(ordered.sum())) - (ordered.size + 1) / ordered.size


def evenness(ordered):
    """Theil's measure of the whole and of what lies within fifths."""
    mean = ordered.mean()
    whole = float(np.mean(ordered / mean * np.log(ordered / mean)))
    within = 0.0
    for fifth in np.array_split(ordered, 5):
        ratio = fifth / fifth.mean()
        within += float(fifth.sum() / ordered.sum() * np.mean(ratio * np.log(ratio)))
    return whole, within


def allowance(incomes, cents):
    """Everybody gets the same, paid by a tax of two brackets on what is above the mean."""
    mean = incomes.mean()
    above = np.maximum(incomes - mean, 0.0)
    high = np.maximum(incomes - 3 * mean, 0.0)
    due = above + 0.8 * high
    return incomes + cents - due * (cents * incomes.size / due.sum())


class Study:
    def __init__(self):
        self.rows = []

    def describe(self, incomes):
        ordered = np.sort(incomes)
        curve = lorenz(ordered)
        half = int(np.searchsorted(curve, 0.5))
        whole, within = evenness(ordered)
        tenth = ordered[ordered.size // 10]
        return gini(ordered), float(tenth), half / ordered.size, whole, within

    def parish(self, number, incomes):
        before = self.describe(incomes)
        after = self.describe(allowance(incomes, 1_200.0))
        self.rows.append((number, *before, before[0] - after[0], after[1] / before[1]))

    def table(self):
        rows = sorted(self.rows, key=lambda row: row[1])
        return ["%3d %.4f %9.2f %.3f %.4f %.4f %+.4f %.3f" % row for row in rows]


def one_pass(number, step):
    study = Study()
    for parish, incomes in households(np.random.default_rng(number)):
        study.parish(parish, incomes)
    table = study.table()
    return table[0], table[-1], sum(row[1] for row in study.rows)


if __name__ == "__main__":
    run(one_pass)
