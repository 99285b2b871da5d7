# SPDX-License-Identifier: Apache-2.0
"""What a cricket's hearing neurons answer to: a Poisson model with a spike's after-effects is fitted to each by a quasi-Newton solver."""

import numpy as np
from scipy.optimize import minimize
from scipy.signal import lfilter

from common import run

BINS = 1500
LAGS = 12
DECAYS = (0.5, 0.8, 0.95)


def make_song(rng):
    """Loudness of chirps, in bins of two milliseconds."""
    beat = np.arange(BINS) / rng.uniform(18, 26)
    gate = np.sin(2 * np.pi * np.arange(BINS) / rng.uniform(300, 500)) > 0
    return np.clip(np.sin(2 * np.pi * beat), 0, None) * gate + rng.normal(0, 0.1, BINS)


def lagged(song):
    padded = np.concatenate((np.zeros(LAGS - 1), song))
    return np.lib.stride_tricks.sliding_window_view(padded, LAGS)[:, ::-1].copy()


def trails(spikes):
    """What is left of earlier spikes in each bin, for three speeds of forgetting."""
    before = np.concatenate(([0.0], spikes[:-1]))
    return np.stack([lfilter([1 - decay], [1, -decay], before) for decay in DECAYS], axis=1)


class Neuron:
    NODES, SHARES = np.polynomial.hermite_e.hermegauss(5)

    def __init__(self, heard, spikes, ridge=0.5, noise=0.6):
        self.inputs = np.hstack((heard, trails(spikes), np.ones((BINS, 1))))
        self.levels = noise * self.NODES[:, None]
        self.shares = self.SHARES / self.SHARES.sum()
        self.spikes = spikes
        self.ridge = ridge
        self.floor = 1e-4

    def drive(self, weights):
        return self.inputs @ weights

    def rates(self, weights):
        """Spikes to be expected of each bin and how they turn with the drive, on the average over the membrane's noise."""
        drive = self.drive(weights) + self.levels
        grown = np.exp(-np.abs(drive))
        soft = np.maximum(drive, 0) + np.log1p(grown)
        turn = np.where(drive > 0, 1.0, grown) / (1 + grown)
        return self.shares @ soft + self.floor, self.shares @ turn

    def price(self, weights):
        expected, _ = self.rates(weights)
        misfit = expected.sum() - self.spikes @ np.log(expected)
        return float(misfit + 0.5 * self.ridge * weights[:-1] @ weights[:-1])

    def slope(self, weights):
        expected, turn = self.rates(weights)
        away = self.inputs.T @ ((1 - self.spikes / expected) * turn)
        away[:-1] += self.ridge * weights[:-1]
        return away

    def fit(self):
        start = np.zeros(self.inputs.shape[1])
        return minimize(self.price, start, jac=self.slope, method="L-BFGS-B", options={"maxiter": 60})


class NeuronFixed(Neuron):
    def price_and_slope(self, weights):
        expected, turn = self.rates(weights)
        misfit = expected.sum() - self.spikes @ np.log(expected)
        away = self.inputs.T @ ((1 - self.spikes / expected) * turn)
        away[:-1] += self.ridge * weights[:-1]
        return float(misfit + 0.5 * self.ridge * weights[:-1] @ weights[:-1]), away

    def fit(self):
        start = np.zeros(self.inputs.shape[1])
        return minimize(self.price_and_slope, start, jac=True, method="L-BFGS-B", options={"maxiter": 60})


def make_spikes(rng, song):
    gain, delay = rng.uniform(0.2, 0.9), int(rng.integers(1, 8))
    wanted = 0.02 + gain * np.clip(np.roll(song, delay), 0, None)
    return np.minimum(rng.poisson(wanted), 3).astype(float)


def one_pass(number, make):
    rng = np.random.default_rng(number)
    song = make_song(rng)
    heard = lagged(song)
    report = []
    for _ in range(4):
        neuron = make(heard, make_spikes(rng, song))
        found = neuron.fit()
        report.append((round(float(found.fun), 4), int(np.argmax(found.x[:LAGS]))))
    return report


if __name__ == "__main__":
    run(one_pass, Neuron, NeuronFixed)
