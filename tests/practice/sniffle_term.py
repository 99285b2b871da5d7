# SPDX-License-Identifier: Apache-2.0
"""A cold goes through a school's classes: who catches it is drawn day by day, classes that are too empty stay at home."""

import numpy as np

from common import run

CLASSES, DAYS = 36, 90
MEETS = 0.035


class School:
    """Counts by class: well, coming down with it, ill, over it."""

    def __init__(self, rng):
        self.rng = rng
        size = rng.integers(16, 30, CLASSES)
        self.ill = rng.binomial(1, 0.2, CLASSES)
        self.well = size - self.ill
        self.coming = np.zeros(CLASSES, dtype=int)
        self.over = np.zeros(CLASSES, dtype=int)
        self.size = size
        self.home = np.zeros(CLASSES, dtype=int)
        mixing = rng.gamma(0.4, 1.0, (CLASSES, CLASSES))
        self.mixing = 0.02 * (mixing + mixing.T) / mixing.mean()
        np.fill_diagonal(self.mixing, 1.0)

    def risk(self, day):
        """Chance of one who is well to catch it today, by class."""
        about = np.where(self.home > 0, 0.0, self.ill + 0.3 * self.coming)
        met = self.mixing @ about
        met[self.home > 0] *= 0.1
        season = 1.0 + 0.4 * np.cos(2 * np.pi * day / 60)
        return 1.0 - np.exp(-MEETS * season * met / np.sqrt(self.size))

    def close(self):
        """A class with a third ill stays at home for five days."""
        self.home = np.maximum(self.home - 1, 0)
        empty = (self.ill > self.size / 3) & (self.home == 0)
        self.home[empty] = 5
        return int(empty.sum())

    def day(self, day):
        caught = self.rng.binomial(self.well, self.risk(day))
        broken_out = self.rng.binomial(self.coming, 0.5)
        cured = self.rng.binomial(self.ill, 0.2)
        lost = self.rng.binomial(self.over, 0.01)
        self.well += lost - caught
        self.coming += caught - broken_out
        self.ill += broken_out - cured
        self.over += cured - lost
        return int(caught.sum())


class Diary:
    def __init__(self):
        self.caught, self.ill, self.closed = [], [], 0

    def enter(self, caught, ill, closed):
        self.caught.append(caught)
        self.ill.append(ill)
        self.closed += closed

    def waves(self):
        """Days on which the week's mean is above those of the weeks before and after."""
        week = np.convolve(self.caught, np.ones(7) / 7, mode="valid")
        middle = week[7:-7]
        return int(((middle > week[:-14]) & (middle > week[14:])).sum())


def one_pass(number, step):
    rng = np.random.default_rng(number)
    rows = []
    for term in range(3):
        school, diary = School(rng), Diary()
        for day in range(DAYS):
            caught = school.day(day)
            diary.enter(caught, int(school.ill.sum()), school.close())
        rows.append((max(diary.ill), sum(diary.caught), diary.closed, diary.waves(), int(school.well.sum())))
    return rows


if __name__ == "__main__":
    run(one_pass)
