# SPDX-License-Identifier: Apache-2.0
"""A cave's acoustics for a guide: spoken phrases are played into measured echoes and judged by how clear they stay."""

import numpy as np
from scipy import signal

from common import run

RATE = 8000
HALLS = 3
PHRASES = 3


def hall(rng):
    """The echo of a clap: early reflections and a tail that dies away."""
    length = int(RATE * rng.uniform(0.25, 0.4))
    tail = rng.standard_normal(length) * np.exp(-np.arange(length) / (RATE * rng.uniform(0.04, 0.09)))
    tail[0] = 4.0
    for delay in rng.integers(40, 700, 6):
        tail[delay] += rng.uniform(1, 2)
    return tail


def phrase(rng):
    """Syllables of some vowels' pitches with rests between them."""
    parts = []
    for _ in range(int(rng.integers(5, 8))):
        time = np.arange(int(RATE * rng.uniform(0.08, 0.2))) / RATE
        voice = sum(np.sin(2 * np.pi * pitch * time) / k for k, pitch in enumerate(rng.uniform(140, 900, 4), 1))
        parts += [voice * np.hanning(time.size), np.zeros(int(RATE * rng.uniform(0.03, 0.09)))]
    return np.concatenate(parts)


def played(voice, echo):
    return np.convolve(voice, echo)


def played_fixed(voice, echo):
    return signal.fftconvolve(voice, echo)


def envelope(sound, smoother):
    return signal.sosfiltfilt(smoother, np.abs(sound))


def clarity(echo):
    """Early against late energy in decibels, and how long the echo takes to fall by sixty."""
    energy = echo**2
    early = int(0.05 * RATE)
    left = np.cumsum(energy[::-1])[::-1]
    level = 10 * np.log10(left / left[0] + 1e-12)
    slope = np.polyfit(np.arange(early, level.size // 2), level[early : level.size // 2], 1)[0]
    return 10 * np.log10(energy[:early].sum() / energy[early:].sum()), -60 / slope / RATE


def syllables(loudness):
    peaks, _ = signal.find_peaks(loudness, prominence=0.15 * loudness.max(), distance=RATE // 20)
    return len(peaks)


def one_pass(number, step):
    rng = np.random.default_rng(number)
    smoother = signal.butter(3, 18, fs=RATE, output="sos")
    phrases = [phrase(rng) for _ in range(PHRASES)]
    sheet = []
    for _ in range(HALLS):
        echo = hall(rng)
        early, fall = clarity(echo)
        for voice in phrases:
            loudness = envelope(step(voice, echo), smoother)
            sheet.append((float(early), float(fall), syllables(loudness), float(loudness.max())))
    return sheet


if __name__ == "__main__":
    run(one_pass, played, played_fixed)
