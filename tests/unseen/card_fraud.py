# SPDX-License-Identifier: Apache-2.0
"""Scores card payments as they come in: how far each lies from what its holder usually does; far ones go to a human."""

import math
from collections import deque

import numpy as np

from runner import run

FEATURES = 8
REFIT = 60


class Profile:
    """What is usual for one kind of holder, by the payments that were let through lately."""

    def __init__(self, rng):
        spread = rng.normal(size=(FEATURES, FEATURES)) * 0.3
        self.mean = rng.normal(size=FEATURES)
        self.cov = spread @ spread.T + 0.2 * np.eye(FEATURES)
        self.kept = deque(maxlen=200)
        self.since = 0

    @property
    def precision(self):
        return np.linalg.inv(self.cov)

    def distance(self, features):
        step = features - self.mean
        return math.sqrt(step @ self.precision @ step)

    def learn(self, features):
        self.kept.append(features)
        self.since += 1
        if self.since >= REFIT:
            self.refit()

    def refit(self):
        seen = np.array(self.kept)
        self.mean = 0.7 * self.mean + 0.3 * seen.mean(axis=0)
        self.cov = 0.7 * self.cov + 0.3 * np.cov(seen, rowvar=False)
        self.since = 0


class ProfileFixed(Profile):
    def __init__(self, rng):
        super().__init__(rng)
        self.inverse = None

    @property
    def precision(self):
        if self.inverse is None:
            self.inverse = np.linalg.inv(self.cov)
        return self.inverse

    def refit(self):
        super().refit()
        self.inverse = None


def features(payment, before):
    """Amount, place, hour and pace as numbers of like size."""
    amount, hour, far, online, shop = payment
    angle = hour * math.tau / 24
    pace = math.log1p(abs(hour - before[1]) % 24)
    jump = math.hypot(far - before[2], 0.1 * (amount - before[0]))
    return np.array([math.log1p(amount) / 3, math.sin(angle), math.cos(angle), math.log1p(far), online, shop / 10, pace, math.log1p(jump)])


class Desk:
    def __init__(self, profiles, limit):
        self.profiles = profiles
        self.limit = limit
        self.before = {}
        self.flagged = []
        self.sum = 0.0

    def take(self, number, holder, payment):
        profile = self.profiles[holder % len(self.profiles)]
        values = features(payment, self.before.get(holder, payment))
        self.before[holder] = payment
        distance = profile.distance(values)
        self.sum += min(distance, 20.0)
        if distance > self.limit:
            self.flagged.append((number, holder, round(distance, 6)))
        else:
            profile.learn(values)


def one_pass(number, kind):
    rng = np.random.default_rng(number)
    desk = Desk([kind(rng) for _ in range(5)], 7.0)
    holders = rng.integers(0, 80, 900).tolist()
    amounts = rng.lognormal(3, 1, 900).tolist()
    hours = rng.uniform(0, 24, 900).tolist()
    ways = rng.lognormal(1, 1, 900).tolist()
    for at, holder in enumerate(holders):
        desk.take(at, holder, (amounts[at], hours[at], ways[at], at % 3 == 0, holder % 11))
    return len(desk.flagged), desk.sum, desk.flagged[:3], desk.flagged[-3:]


if __name__ == "__main__":
    run(one_pass, Profile, ProfileFixed)
