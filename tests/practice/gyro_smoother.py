# SPDX-License-Identifier: Apache-2.0
"""A camera's gyroscope is cleaned before the picture is steadied: blocks are split into their strongest motions, the rest is noise."""

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from scipy import ndimage, signal

from common import run

RATE, BLOCK, DEPTH, RANK = 200, 240, 36, 5
SECONDS = 16


def shake(rng):
    """Rates of three axes: a walker's steps, slow pans and the sensor's noise."""
    time = np.arange(SECONDS * RATE) / RATE
    rates = np.empty((3, time.size))
    for axis in range(3):
        step = rng.uniform(1.6, 2.2)
        pans = ndimage.gaussian_filter1d(rng.normal(0, 6, time.size), 160)
        walk = sum(rng.normal(0, 0.5 / k) * np.sin(2 * np.pi * k * step * time + rng.uniform(0, 6)) for k in (1, 2, 3))
        rates[axis] = pans + walk + rng.normal(0, 0.3, time.size)
    return rates


def strongest(windows):
    """The windows with their strongest motions alone."""
    left, weights, right = np.linalg.svd(windows)
    return (left[:, :RANK] * weights[:RANK]) @ right[:RANK], weights


def strongest_fixed(windows):
    left, weights, right = np.linalg.svd(windows, full_matrices=False)
    return (left[:, :RANK] * weights[:RANK]) @ right[:RANK], weights


class Smoother:
    def __init__(self, strongest):
        self.strongest = strongest
        self.taper = signal.windows.hann(BLOCK, sym=False)
        self.counts = np.convolve(np.ones(BLOCK - DEPTH + 1), np.ones(DEPTH))
        self.kept = []

    def block(self, samples):
        """Split by overlapping windows; each sample is the mean of all windows that it stands in."""
        reduced, weights = self.strongest(sliding_window_view(samples, DEPTH))
        self.kept.append(float((weights[:RANK] ** 2).sum() / (weights**2).sum()))
        total = np.zeros(BLOCK)
        rows = len(reduced)
        for at in range(DEPTH):
            total[at : at + rows] += reduced[:, at]
        return total / self.counts

    def axis(self, rates):
        """Blocks that overlap by half, faded into each other."""
        out, weight = np.zeros_like(rates), np.zeros_like(rates)
        for start in range(0, rates.size - BLOCK + 1, BLOCK // 2):
            part = slice(start, start + BLOCK)
            out[part] += self.taper * self.block(rates[part])
            weight[part] += self.taper
        return np.divide(out, weight, out=rates.copy(), where=weight > 1e-3)


def path(rates):
    """Angles, and the smooth way that the picture is to take instead."""
    angles = np.cumsum(rates, axis=1) / RATE
    wanted = ndimage.gaussian_filter1d(angles, RATE * 0.7, axis=1)
    crop = np.abs(angles - wanted).max(axis=1)
    return wanted - angles, crop


def jitter(corrections):
    """Power of the corrections above five hertz, by Welch's mean."""
    hertz, power = signal.welch(corrections, fs=RATE, nperseg=256, axis=1)
    return power[:, hertz > 5].sum(axis=1)


def still(rates, level=0.6, shortest=RATE // 2):
    """Spans in which the camera was held still."""
    calm = ndimage.uniform_filter1d(np.linalg.norm(rates, axis=0), 25) < level
    labels, count = ndimage.label(calm)
    lengths = np.bincount(labels, minlength=count + 1)[1:]
    return int((lengths >= shortest).sum()), int(lengths.max(initial=0))


def one_pass(number, strongest):
    rng = np.random.default_rng(number)
    rates = shake(rng)
    smoother = Smoother(strongest)
    clean = np.array([smoother.axis(axis) for axis in rates])
    corrections, crop = path(clean)
    return crop.tolist(), jitter(corrections).tolist(), float(np.mean(smoother.kept)), still(clean)


if __name__ == "__main__":
    run(one_pass, strongest, strongest_fixed)
