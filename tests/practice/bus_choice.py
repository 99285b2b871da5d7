# SPDX-License-Identifier: Apache-2.0
"""Whether people take bus, bicycle or car: a logit model is fitted to each district by a trust-region solver, and fares are tried on it."""

import numpy as np
from scipy.optimize import minimize

from common import run

TRIPS = 500
MODES = 3
DISTRICTS = 5


class District:
    """Times, costs and hills of each trip by each mode, and the mode that was taken."""

    def __init__(self, rng, taste):
        times = rng.gamma(4.0, 5.0, (TRIPS, 1)) * np.array([1.3, 1.6, 1.0]) + rng.uniform(0, 6, (TRIPS, MODES))
        costs = np.column_stack((np.full(TRIPS, 2.2), np.zeros(TRIPS), 0.3 * times[:, 2]))
        hills = np.zeros((TRIPS, MODES))
        hills[:, 1] = rng.uniform(0, 3, TRIPS)
        ones = np.zeros((TRIPS, MODES, MODES - 1))
        ones[:, 0, 0] = ones[:, 1, 1] = 1
        self.facts = np.dstack((times / 10, costs, hills, times * hills / 20, ones))
        wanted = self.facts @ taste + rng.gumbel(0, 1, (TRIPS, MODES))
        self.taken = wanted.argmax(axis=1)


class Logit:
    def __init__(self, facts, taken, ridge=0.1):
        self.facts = facts
        self.flat = facts.reshape(TRIPS * MODES, -1)
        self.chosen = np.zeros((TRIPS, MODES))
        self.chosen[np.arange(TRIPS), taken] = 1
        self.seen = self.flat.T @ self.chosen.ravel()
        self.ridge = ridge
        self.held = ridge * np.eye(self.flat.shape[1])
        self.last = None

    def at(self, taste):
        """Shares and the likelihood; price, slope and bend are asked for at one taste in turn, and it is reckoned once."""
        if self.last is None or not np.array_equal(taste, self.last):
            liking = self.facts @ taste
            top = liking.max(axis=1, keepdims=True)
            weights = np.exp(liking - top)
            total = weights.sum(axis=1, keepdims=True)
            self.shares = weights / total
            self.likelihood = float(taste @ self.seen - (top + np.log(total)).sum())
            self.last = taste.copy()
        return self.shares, self.likelihood

    def price(self, taste):
        _, likelihood = self.at(taste)
        return 0.5 * self.ridge * float(taste @ taste) - likelihood

    def slope(self, taste):
        shares, _ = self.at(taste)
        return self.flat.T @ shares.ravel() - self.seen + self.ridge * taste

    def bend(self, taste):
        shares, _ = self.at(taste)
        means = np.einsum("tm,tmk->tk", shares, self.facts)
        return (self.flat * shares.reshape(-1, 1)).T @ self.flat - means.T @ means + self.held

    def fit(self, start):
        return minimize(self.price, start, jac=self.slope, hess=self.bend, method="trust-ncg", options={"gtol": 1e-4})

    def with_fares(self, taste, changes):
        """Shares of the bus when its fare changes for everybody: the odds of each trip are those of today, times one factor."""
        shares, _ = self.at(taste)
        odds = shares[:, 0] / (1 - shares[:, 0])
        return [float((odds * factor / (1 + odds * factor)).mean()) for factor in np.exp(np.multiply(changes, taste[1])).tolist()]


def one_pass(number, _):
    rng = np.random.default_rng(number)
    middle = np.array([-0.6, -0.35, -0.5, -0.1, 0.4, 0.2])
    start = np.zeros(len(middle))
    report = []
    for _ in range(DISTRICTS):
        district = District(rng, middle + rng.normal(0, 0.15, len(middle)))
        model = Logit(district.facts, district.taken)
        found = model.fit(start)
        start = found.x / 2
        report.append((float(found.fun), model.with_fares(found.x, (-2.0, -0.5, 1.0))))
    return report


if __name__ == "__main__":
    run(one_pass, None)
