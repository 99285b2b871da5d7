# SPDX-License-Identifier: Apache-2.0
"""Finds sperm whale clicks in the channels of a towed hydrophone array."""

import numpy as np
from scipy import signal

from runner import run

RATE = 24_000
SAMPLES = 6_000
CHANNELS = 60


def tow(seed):
    rng = np.random.default_rng(seed)
    sea = rng.normal(0, 1, (CHANNELS, SAMPLES)).cumsum(axis=1) * 0.02
    sea += rng.normal(0, 0.3, (CHANNELS, SAMPLES))
    pitch = rng.uniform(5_500, 7_000)
    t = np.arange(72) / RATE
    click = np.sin(2 * np.pi * pitch * t) * np.hanning(72) * 4
    starts = rng.integers(200, SAMPLES - 400, 9)
    delays = rng.integers(0, 120, CHANNELS)
    for channel, delay in enumerate(delays):
        for start in starts:
            sea[channel, start + delay : start + delay + 72] += click
    return sea, (pitch - 1_800, pitch + 1_800)


def envelope(trace):
    return np.abs(signal.hilbert(trace))


def clicks(array, band):
    for channel, trace in enumerate(array):
        sos = signal.butter(5, band, btype="bandpass", fs=RATE, output="sos")
        heard = envelope(signal.sosfiltfilt(sos, trace))
        floor = np.median(heard)
        peaks, found = signal.find_peaks(heard, height=6 * floor, distance=60)
        yield channel, peaks, found["peak_heights"] / floor


def clicks_fixed(array, band):
    sos = signal.butter(5, band, btype="bandpass", fs=RATE, output="sos")
    for channel, trace in enumerate(array):
        heard = envelope(signal.sosfiltfilt(sos, trace))
        floor = np.median(heard)
        peaks, found = signal.find_peaks(heard, height=6 * floor, distance=60)
        yield channel, peaks, found["peak_heights"] / floor


def one_pass(number, find):
    array, band = tow(number)
    total, first, loudest = 0, [], 0.0
    for _, peaks, loudness in find(array, band):
        total += len(peaks)
        first.append(int(peaks[0]) if len(peaks) else -1)
        loudest = max(loudest, float(loudness.max(initial=0.0)))
    return total, loudest, first


if __name__ == "__main__":
    run(one_pass, clicks, clicks_fixed)
