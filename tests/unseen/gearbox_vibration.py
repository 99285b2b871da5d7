# SPDX-License-Identifier: Apache-2.0
"""Looks for worn teeth in the vibration of wind turbines' gearboxes: spectra in overlapping blocks, sidebands around the mesh, a trend."""

import numpy as np

from runner import run

RATE = 8000
BLOCK = 2048
HOP = 512
FREQUENCIES = np.fft.rfftfreq(BLOCK, 1 / RATE)


def recording(rng, seconds, worn):
    t = np.arange(int(RATE * seconds)) / RATE
    shaft = rng.uniform(18, 24)
    teeth = int(rng.integers(25, 40))
    phase = 2 * np.pi * shaft * t
    mesh = (1 + worn * np.cos(phase)) * np.sin(teeth * phase) + 0.4 * np.sin(2 * teeth * phase)
    return shaft, teeth, mesh + rng.normal(0, 0.6, t.size)


def spectra(signal):
    return [
        np.abs(np.fft.rfft(signal[start : start + BLOCK] * np.hanning(BLOCK)))
        for start in range(0, signal.size - BLOCK + 1, HOP)
    ]


def spectra_fixed(signal):
    window = np.hanning(BLOCK)
    return [
        np.abs(np.fft.rfft(signal[start : start + BLOCK] * window))
        for start in range(0, signal.size - BLOCK + 1, HOP)
    ]


def band(centre, half=8.0):
    """The lines within a few hertz of the centre."""
    first, last = np.searchsorted(FREQUENCIES, (centre - half, centre + half))
    return slice(first, last)


def energy(spectrum, lines):
    return float(np.square(spectrum[lines]).sum())


def cepstrum_peak(spectrum, shaft):
    """How strongly the spectrum repeats at the distance of the shaft's speed."""
    quefrency = np.fft.irfft(np.log(spectrum + 1e-6))
    at = int(round(RATE / shaft))
    return float(quefrency[at - 6 : at + 7].max())


class Gearbox:
    def __init__(self, name, shaft, teeth):
        self.name = name
        self.shaft = shaft
        self.mesh = band(shaft * teeth)
        self.sides = band(shaft * (teeth - 1)), band(shaft * (teeth + 1))
        self.trend = []

    def judge(self, blocks):
        for block in blocks:
            middle = energy(block, self.mesh)
            sides = energy(block, self.sides[0]) + energy(block, self.sides[1])
            crest = float(block.max() / np.sqrt(np.mean(block * block)))
            self.trend.append((sides / middle, crest, cepstrum_peak(block, self.shaft)))

    def verdict(self):
        ratio, crest, peak = np.median(np.array(self.trend), axis=0)
        return self.name, float(ratio), float(crest), float(peak), bool(ratio > 0.5)


def one_pass(number, step):
    rng = np.random.default_rng(number)
    verdicts = []
    for at in range(3):
        shaft, teeth, signal = recording(rng, rng.uniform(2.0, 3.0), rng.choice((0.1, 0.9)))
        gearbox = Gearbox("T%d" % at, shaft, teeth)
        gearbox.judge(step(signal))
        verdicts.append(gearbox.verdict())
    return verdicts


if __name__ == "__main__":
    run(one_pass, spectra, spectra_fixed)
