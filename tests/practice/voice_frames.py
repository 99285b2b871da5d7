# SPDX-License-Identifier: Apache-2.0
"""Speech features: windowed frames, band energies, spectral flatness."""

import numpy as np

from common import run

RATE = 16_000
FRAME = 1024
HOP = 400
BANDS = 24


def record(seed, seconds=6.0):
    rng = np.random.default_rng(seed)
    pitch = 110 + np.cumsum(rng.normal(0, 0.02, int(RATE * seconds)))
    voice = np.sin(2 * np.pi * np.cumsum(pitch) / RATE)
    return voice + 0.4 * np.sign(voice) + 0.05 * rng.standard_normal(len(voice))


def band_edges():
    top = 2595 * np.log10(1 + RATE / 2 / 700)
    mel = np.linspace(0, top, BANDS + 1)
    hertz = 700 * (10 ** (mel / 2595) - 1)
    edges = np.floor(hertz / RATE * FRAME).astype(int)
    return np.maximum(edges, np.arange(BANDS + 1))


EDGES = band_edges()


def features(signal, edges):
    rows = []
    for start in range(0, len(signal) - FRAME, HOP):
        frame = signal[start : start + FRAME]
        windowed = frame * np.blackman(FRAME)
        power = np.abs(np.fft.rfft(windowed)) ** 2
        energy = np.add.reduceat(power, edges[:-1])
        flatness = np.exp(np.log(power + 1e-12).mean()) / power.mean()
        rows.append(np.concatenate([np.log(energy + 1e-9), [flatness]]))
    return np.array(rows)


def features_fixed(signal, edges):
    rows = []
    window = np.blackman(FRAME)
    for start in range(0, len(signal) - FRAME, HOP):
        frame = signal[start : start + FRAME]
        windowed = frame * window
        power = np.abs(np.fft.rfft(windowed)) ** 2
        energy = np.add.reduceat(power, edges[:-1])
        flatness = np.exp(np.log(power + 1e-12).mean()) / power.mean()
        rows.append(np.concatenate([np.log(energy + 1e-9), [flatness]]))
    return np.array(rows)


def speech_segments(table):
    loud = table[:, :BANDS].sum(axis=1)
    active = loud > np.median(loud)
    return int(np.count_nonzero(np.diff(active.astype(int)) == 1))


def one_pass(number, extract):
    total = 0.0
    segments = 0
    for take in range(6):
        table = extract(record(number * 6 + take), EDGES)
        segments += speech_segments(table)
        total += float(table.sum())
    return segments, total


if __name__ == "__main__":
    run(one_pass, features, features_fixed)
