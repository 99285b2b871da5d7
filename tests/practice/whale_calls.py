# SPDX-License-Identifier: Apache-2.0
"""Counts the calls of four whale species in a hydrophone's recordings."""

from collections import namedtuple
from functools import lru_cache

import numpy as np
from scipy import signal

from common import run

RATE = 2000.0
Species = namedtuple("Species", "name low high seconds")


def make_species(rng):
    """Bands as this season's surveys gave them."""
    base = [("blue", 20, 60), ("fin", 70, 120), ("sei", 140, 260), ("humpback", 300, 700)]
    return [
        Species(name, low + rng.uniform(-3, 3), high + rng.uniform(-3, 3), rng.uniform(0.4, 1.2))
        for name, low, high in base
    ]


def make_recording(rng, species, seconds=8):
    sound = rng.normal(0, 1.0, int(seconds * RATE))
    for _ in range(rng.integers(1, 6)):
        caller = species[rng.integers(len(species))]
        seconds = caller.seconds * rng.uniform(0.8, 1.2)
        length = int(seconds * RATE)
        start = rng.integers(0, len(sound) - length)
        t = np.arange(length) / RATE
        tone = signal.chirp(t, caller.low, seconds, caller.high)
        sound[start : start + length] += 2.5 * np.sqrt(np.sin(np.pi * t / seconds)) * tone
    return sound


def band_filter(order, low, high, rate):
    return signal.iirfilter(order, [low, high], rs=50, rp=0.5, btype="band", ftype="ellip", output="sos", fs=rate)


def loudness(sound, caller, design):
    heard = signal.sosfilt(design(7, caller.low, caller.high, RATE), sound)
    hop = int(0.1 * RATE)
    power = heard[: len(heard) // hop * hop].reshape(-1, hop)
    return np.sqrt(np.einsum("ij,ij->i", power, power) / hop)


def count_calls(levels, seconds):
    loud = levels > 2.2 * np.median(levels)
    edges = np.diff(loud.astype(np.int8), prepend=0, append=0)
    lengths = np.flatnonzero(edges < 0) - np.flatnonzero(edges > 0)
    return int(np.count_nonzero(lengths * 0.1 > 0.4 * seconds))


def survey(recordings, species, design):
    calls = {caller.name: 0 for caller in species}
    loudest = 0.0
    for sound in recordings:
        for caller in species:
            levels = loudness(sound, caller, design)
            calls[caller.name] += count_calls(levels, caller.seconds)
            loudest = max(loudest, float(levels.max()))
    return [*calls.values(), loudest]


def one_pass(number, make_design):
    rng = np.random.default_rng(number)
    species = make_species(rng)
    return survey((make_recording(rng, species) for _ in range(12)), species, make_design())


if __name__ == "__main__":
    run(one_pass, lambda: band_filter, lambda: lru_cache(band_filter))
