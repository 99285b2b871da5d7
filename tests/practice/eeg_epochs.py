# SPDX-License-Identifier: Apache-2.0
"""Brain waves after each stimulus: band powers of the epochs cut from one recording."""

import numpy as np
from scipy import signal as dsp

from common import run

RATE = 256
CHANNELS = 6
EPOCH = 256
BANDS = {"theta": slice(2, 4), "alpha": slice(4, 7), "beta": slice(7, 15)}  # in steps of 2 Hz
NOTCH = dsp.tf2sos(*dsp.iirnotch(50, 30, fs=RATE))
PASSED = dsp.butter(4, (1, 45), "bandpass", fs=RATE, output="sos")


def record(seed, seconds):
    rng = np.random.default_rng(seed)
    times = np.arange(seconds * RATE) / RATE
    noise = rng.normal(size=(CHANNELS, times.size)).cumsum(axis=1) * 0.05
    hum = 0.4 * np.sin(2 * np.pi * 50 * times)
    waves = [np.sin(2 * np.pi * rng.uniform(5, 25) * times + rng.uniform(0, 6)) for _ in range(CHANNELS)]
    onsets = np.sort(rng.integers(RATE, times.size - EPOCH, size=seconds))
    return noise + hum + np.array(waves), [int(onset) for onset in onsets]


def filtered(raw):
    return dsp.sosfiltfilt(PASSED, dsp.sosfiltfilt(NOTCH, raw))


def cut(trace, onset):
    epoch = np.empty((CHANNELS, EPOCH))
    for channel in range(CHANNELS):
        for k in range(EPOCH):
            epoch[channel, k] = trace[channel, onset + k]
    return epoch


def cut_fixed(trace, onset):
    epoch = np.empty((CHANNELS, EPOCH))
    epoch[:] = trace[:, onset : onset + EPOCH]
    return epoch


def band_powers(epoch):
    epoch -= epoch.mean(axis=1, keepdims=True)
    _, power = dsp.welch(dsp.detrend(epoch), fs=RATE, nperseg=128)
    return np.array([power[:, band].mean(axis=1) for band in BANDS.values()])


def one_pass(number, take):
    raw, onsets = record(number, 90)
    trace = filtered(raw)
    total = np.zeros((len(BANDS), CHANNELS))
    rejected = 0
    for onset in onsets:
        epoch = take(trace, onset)
        if np.ptp(epoch, axis=1).max() > 3.5:
            rejected += 1
            continue
        total += band_powers(epoch)
    return rejected, [float(value) for value in total.ravel()]


if __name__ == "__main__":
    run(one_pass, cut, cut_fixed)
