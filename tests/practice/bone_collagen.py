# SPDX-License-Identifier: Apache-2.0
"""What people of a burial ground ate, from carbon and nitrogen of their bones: shares of four foods by a random walk."""

import numpy as np
from scipy import stats

from common import run

FOODS = np.array([[-24.5, 6.0], [-12.0, 7.5], [-21.0, 9.5], [-13.5, 15.0]])
VARIANCES = np.array([[1.2, 1.4], [0.8, 1.0], [0.6, 1.2], [1.0, 2.0]])
ENRICHED = np.array([4.8, 3.6])


def make_bones(rng, people):
    """Measured pairs of people with nearly the same food."""
    eaten = rng.dirichlet([4, 2, 3, 1])
    spread = np.sqrt(eaten**2 @ VARIANCES + 0.25)
    return rng.normal(eaten @ FOODS + ENRICHED, spread, (people, 2))


def shares_of(taste):
    grown = np.exp(taste - taste.max())
    return grown / grown.sum()


def log_likelihood(bones, middle, spread):
    return stats.norm.logpdf(bones, middle, spread).sum()


def log_likelihood_fixed(bones, middle, spread):
    away = (bones - middle) / spread
    return -0.5 * (away * away).sum() - len(bones) * (np.log(spread).sum() + np.log(2 * np.pi))


class Chain:
    """Metropolis steps in tastes (the last food's is zero) and the people's own spread, whose reach is tuned as it goes."""

    def __init__(self, rng, bones, likelihood):
        self.rng = rng
        self.bones = bones
        self.likelihood = likelihood
        self.place = np.zeros(len(FOODS))
        self.height, self.shares = self.density(self.place)
        self.reach = 0.5
        self.taken = 0

    def density(self, place):
        """The last number of a place is the logarithm of the spread, the others are tastes."""
        shares = shares_of(np.append(place[:-1], 0.0))
        own = np.exp(place[-1])
        middle = shares @ FOODS + ENRICHED
        spread = np.sqrt(shares**2 @ VARIANCES + own**2)
        prior = np.log(shares).sum() - 0.5 * (place[-1] / 0.7) ** 2
        return self.likelihood(self.bones, middle, spread) + prior, shares

    def step(self):
        place = self.place + self.reach * self.rng.normal(size=len(self.place))
        height, shares = self.density(place)
        taken = np.log(self.rng.random()) < height - self.height
        if taken:
            self.place, self.height, self.shares = place, height, shares
            self.taken += 1
        self.reach *= 1.02 if taken else 0.993

    def sample(self, steps, warm):
        shares = np.empty((steps - warm, len(FOODS)))
        for turn in range(steps):
            self.step()
            if turn >= warm:
                shares[turn - warm] = self.shares
        return shares


def one_pass(number, likelihood):
    rng = np.random.default_rng(number)
    chain = Chain(rng, make_bones(rng, 45), likelihood)
    shares = chain.sample(300, 100)
    low, high = np.quantile(shares, (0.05, 0.95), axis=0)
    return [chain.taken, float(shares.mean(axis=0) @ np.arange(4)), float((high - low).max())]


if __name__ == "__main__":
    run(one_pass, log_likelihood, log_likelihood_fixed)
