# SPDX-License-Identifier: Apache-2.0
"""Which mint struck a coin, and is it genuine: measured alloys and sizes against those of known mints, forgeries lie far from all."""

import numpy as np

from common import run

TRAITS = 12


class Mint:
    def __init__(self, name, known):
        self.name = name
        self.mean = known.mean(axis=0)
        spread = np.cov(known, rowvar=False) + 1e-3 * np.eye(TRAITS)
        self.inverse = np.linalg.inv(spread)
        self.weight = np.linalg.slogdet(spread)[1]

    def far(self, coins):
        """How far each coin is from the mint's own, squared, in terms of their spread."""
        off = coins - self.mean
        return np.diag(off @ self.inverse @ off.T)


class LeanMint(Mint):
    def far(self, coins):
        off = coins - self.mean
        return ((off @ self.inverse) * off).sum(axis=1)


class Cabinet:
    def __init__(self, kind, rng):
        self.rng = rng
        self.kind = kind
        self.mixing = [rng.normal(0, 1, (TRAITS, TRAITS)) / 4 + np.eye(TRAITS) for _ in range(5)]
        self.centres = rng.normal(0, 2.5, (5, TRAITS))
        self.mints = [kind("mint %d" % at, self.struck(at, 200)) for at in range(5)]

    def struck(self, at, count):
        return self.centres[at] + self.rng.normal(0, 1, (count, TRAITS)) @ self.mixing[at]

    def hoard(self, count):
        """Coins of all mints with wear, and some forgeries, in any order."""
        shares = self.rng.multinomial(count, (0.35, 0.25, 0.2, 0.12, 0.08))
        coins = np.concatenate([self.struck(at, share) for at, share in enumerate(shares)])
        self.rng.shuffle(coins)
        forged = self.rng.random(len(coins)) < 0.06
        coins[forged] += self.rng.normal(0, 3, (forged.sum(), TRAITS))
        return coins - np.abs(self.rng.normal(0, 0.05, coins.shape)), forged

    def sort(self, coins):
        far = np.stack([mint.far(coins) for mint in self.mints])
        odds = -0.5 * (far + np.array([mint.weight for mint in self.mints])[:, None])
        odds -= odds.max(axis=0)
        shares = np.exp(odds)
        shares /= shares.sum(axis=0)
        return shares.argmax(axis=0), shares.max(axis=0), far.min(axis=0)


def one_pass(number, kind):
    rng = np.random.default_rng(number)
    cabinet = Cabinet(kind, rng)
    found, caught, sure = np.zeros(5, int), 0, []
    for _ in range(6):
        coins, forged = cabinet.hoard(500)
        mint, share, nearest = cabinet.sort(coins)
        doubted = nearest > 33.0
        caught += int((doubted & forged).sum())
        found += np.bincount(mint[~doubted], minlength=5)
        sure.append(float(np.quantile(share, 0.05)))
    return found.tolist(), caught, sure


if __name__ == "__main__":
    run(one_pass, Mint, LeanMint)
