# SPDX-License-Identifier: Apache-2.0
"""How many tagged eels live through a year: chances of living and of being caught again, sampled by an ensemble of walkers."""

import numpy as np

from common import run

YEARS = 9
WALKERS = 32
STEPS = 60


class Catches:
    """Of those let go in each year, how many were caught next in which one, and how many never."""

    def __init__(self, rng):
        live = rng.uniform(0.5, 0.85, YEARS - 1)
        caught = rng.uniform(0.2, 0.5, YEARS - 1)
        self.next = np.zeros((YEARS - 1, YEARS - 1))
        self.never = np.zeros(YEARS - 1)
        for year in range(YEARS - 1):
            chances, lost = [], 1.0
            for later in range(year, YEARS - 1):
                chances.append(lost * live[later] * caught[later])
                lost *= live[later] * (1 - caught[later])
            counts = rng.multinomial(int(rng.integers(60, 200)), [*chances, 1 - sum(chances)])
            self.next[year, year:], self.never[year] = counts[:-1], counts[-1]


class Posterior:
    def __init__(self, catches):
        self.first, self.later = np.triu_indices(YEARS - 1)
        self.counts = catches.next[self.first, self.later]
        self.never = catches.never
        self.edges = np.searchsorted(self.first, np.arange(YEARS - 1))

    def of(self, walkers):
        """Logarithm of the chance of all counts, for many walkers at once: a year's living, then logits of being caught."""
        live = -np.logaddexp(0, -walkers[:, : YEARS - 1])
        caught = -np.logaddexp(0, -walkers[:, YEARS - 1 :])
        missed = caught - walkers[:, YEARS - 1 :]
        along = np.zeros((len(walkers), YEARS))
        np.cumsum(live + missed, axis=1, out=along[:, 1:])
        chance = along[:, self.later] - along[:, self.first] + (live + caught)[:, self.later]
        seen = np.add.reduceat(np.exp(chance), self.edges, axis=1)
        prior = -0.5 * ((walkers / 1.5) ** 2).sum(axis=1)
        return prior + chance @ self.counts + np.log1p(-np.minimum(seen, 1 - 1e-12)) @ self.never


class Ensemble:
    """Goodman's and Weare's stretches: one half of the walkers moves along lines through the other half."""

    def __init__(self, posterior, rng):
        self.posterior = posterior
        self.rng = rng
        self.walkers = rng.normal(0, 0.3, (WALKERS, 2 * YEARS - 2))
        self.heights = posterior.of(self.walkers)
        self.moved = 0

    def half(self, mine, others):
        width = WALKERS // 2
        stretch = (self.rng.uniform(0, 1, width) + 1) ** 2 / 2
        anchor = self.walkers[others][self.rng.integers(0, width, width)]
        tried = anchor + stretch[:, None] * (self.walkers[mine] - anchor)
        heights = self.posterior.of(tried)
        odds = (tried.shape[1] - 1) * np.log(stretch) + heights - self.heights[mine]
        taken = np.log(self.rng.uniform(0, 1, width)) < odds
        self.walkers[mine][taken] = tried[taken]
        self.heights[mine][taken] = heights[taken]
        self.moved += int(np.count_nonzero(taken))

    def walk(self, steps):
        """The walkers after each step; they are moved in place."""
        low, high = slice(0, WALKERS // 2), slice(WALKERS // 2, WALKERS)
        for _ in range(steps):
            self.half(low, high)
            self.half(high, low)
            yield self.walkers

    def sample(self, steps):
        for _ in self.walk(steps // 2):
            pass  # the start is forgotten
        return np.array([walkers.copy() for walkers in self.walk(steps)])


def one_pass(number, _):
    rng = np.random.default_rng(number)
    ensemble = Ensemble(Posterior(Catches(rng)), rng)
    drawn = 1 / (1 + np.exp(-ensemble.sample(STEPS)[:, :, : YEARS - 1]))
    low, middle, high = np.quantile(drawn.mean(axis=2), (0.05, 0.5, 0.95))
    return ensemble.moved, float(low), float(middle), float(high)


if __name__ == "__main__":
    run(one_pass, None)
