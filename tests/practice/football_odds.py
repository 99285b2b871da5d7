# SPDX-License-Identifier: Apache-2.0
"""Odds of a football league: strengths follow from results, goals are Poisson with a correction for low scores, margins are added."""

import numpy as np
from scipy.stats import poisson

from common import run

TEAMS = 10
MOST = 9
GOALS = np.arange(MOST)
MANY = np.add.outer(GOALS, GOALS) > 2.5
PRICES = ("home", "draw", "away", "over 2.5", "both score")


def one_by_one(rate):
    return np.array([poisson.pmf(goals, rate) for goals in range(MOST)])


def at_once(rate):
    return poisson.pmf(GOALS, rate)


class League:
    def __init__(self, rng, chances):
        self.rng = rng
        self.chances = chances
        self.attack = np.exp(rng.normal(0, 0.25, TEAMS))
        self.defence = np.exp(rng.normal(0, 0.2, TEAMS))
        self.points = np.zeros(TEAMS, int)
        self.scored = np.full(TEAMS, 1.4)
        self.let_in = np.full(TEAMS, 1.4)

    def rates(self, home, away):
        return (
            1.15 * self.scored[home] * self.let_in[away] / 1.4,
            0.92 * self.scored[away] * self.let_in[home] / 1.4,
        )

    def grid(self, home, away):
        """The chance of each score, corrected where scores are low."""
        there, here = self.rates(home, away)
        grid = np.outer(self.chances(there), self.chances(here))
        lean = 0.08
        grid[0, 0] *= 1 + there * here * lean
        grid[0, 1] *= 1 - there * lean
        grid[1, 0] *= 1 - here * lean
        grid[1, 1] *= 1 + lean
        return grid / grid.sum()

    def prices(self, grid):
        parts = (
            np.tril(grid, -1).sum(),
            np.trace(grid),
            np.triu(grid, 1).sum(),
            grid[MANY].sum(),
            grid[1:, 1:].sum(),
        )
        return dict(zip(PRICES, (round(0.94 / max(part, 0.01), 2) for part in parts)))

    def outright(self, grids, seasons):
        """How often each team has the most points of a round when it is drawn many times."""
        points = np.zeros((seasons, TEAMS))
        for (home, away), grid in grids.items():
            there, here = divmod(self.rng.choice(MOST * MOST, seasons, p=grid.ravel()), MOST)
            points[:, home] += np.where(there > here, 3, there == here)
            points[:, away] += np.where(here > there, 3, there == here)
        points += self.points + self.rng.uniform(0, 0.5, points.shape)
        return np.bincount(points.argmax(axis=1), minlength=TEAMS)

    def play(self, home, away):
        there = self.rng.poisson(1.35 * self.attack[home] / self.defence[away])
        here = self.rng.poisson(1.1 * self.attack[away] / self.defence[home])
        self.points[home] += 3 if there > here else there == here
        self.points[away] += 3 if here > there else there == here
        for team, goals, against in ((home, there, here), (away, here, there)):
            self.scored[team] += 0.1 * (goals - self.scored[team])
            self.let_in[team] += 0.1 * (against - self.let_in[team])


def one_pass(number, chances):
    rng = np.random.default_rng(number)
    league = League(rng, chances)
    sheet, wins = [], np.zeros(TEAMS, int)
    for day in range(3):
        teams = rng.permutation(TEAMS).tolist()
        pairs = list(zip(teams[::2], teams[1::2]))
        grids = {pair: league.grid(*pair) for pair in pairs}
        sheet.extend(league.prices(grid) for grid in grids.values())
        wins += league.outright(grids, 4000)
        for pair in pairs:
            league.play(*pair)
    return [sorted(prices.items()) for prices in sheet[:2]], wins.tolist(), league.points.tolist()


if __name__ == "__main__":
    run(one_pass, one_by_one, at_once)
