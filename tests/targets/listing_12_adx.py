# SPDX-License-Identifier: Apache-2.0
"""Listings 12 and 13: an indicator of technical analysis, smoothed one day at a time.

The average directional index goes through two arrays element by element.
--fixed divides the whole array and leaves the recurrence to one call. Rolling
windows over the prices through pandas is bulk work in both versions.
"""
# guilty: adx[i] = adx[i - 1] * keep + dx[i - 1] / float(self.window)
# category: slice-underutilisation
# mended: adx[self.window + 1 :] = lfilter(
# innocent: middle = self.close.rolling(SLOW_WINDOW).median()
# innocent: ranges = self.high.rolling(self.window).max() - self.low.rolling(self.window).min()

import numpy as np
import pandas as pd
from scipy.signal import lfilter

import listing_runner

DAYS, WINDOW, SLOW_WINDOW = 12000, 14, 60


class DirectionalIndex:
    def __init__(self, high, low, close, window):
        self.high, self.low, self.close, self.window = high, low, close, window

    def directions(self):
        """Upward and downward movement against the range, in percent of their sum."""
        ranges = self.high.rolling(self.window).max() - self.low.rolling(self.window).min()
        up = self.high.diff().clip(lower=0).rolling(self.window).sum() / ranges
        down = (-self.low.diff()).clip(lower=0).rolling(self.window).sum() / ranges
        middle = self.close.rolling(SLOW_WINDOW).median()
        trending = (self.close - middle).abs() > 0.1 * ranges
        return (100 * (up - down).abs() / (up + down)).where(trending, 0).fillna(0).to_numpy()

    def adx(self):
        dx = self.directions()
        adx = np.zeros(len(dx))
        keep = (self.window - 1) / float(self.window)
        for i in range(self.window + 1, len(adx)):
            adx[i] = adx[i - 1] * keep + dx[i - 1] / float(self.window)
        return pd.Series(adx, index=self.close.index)

    def adx_fixed(self):
        dx = self.directions()
        adx = np.zeros(len(dx))
        keep = (self.window - 1) / float(self.window)
        adx[self.window + 1 :] = lfilter([1.0], [1.0, -keep], dx[self.window : -1] / float(self.window))
        return pd.Series(adx, index=self.close.index)


def make_prices(seed=12):
    random = np.random.RandomState(seed)
    close = 100 + np.cumsum(random.standard_normal(DAYS))
    spread = random.rand(2, DAYS)
    days = pd.date_range("2001-01-01", periods=DAYS)
    return [pd.Series(values, index=days) for values in (close + spread[0], close - spread[1], close)]


INDEX = DirectionalIndex(*make_prices(), WINDOW)


if __name__ == "__main__":
    listing_runner.run("listing_12_adx", __doc__, INDEX.adx, INDEX.adx_fixed)
