# SPDX-License-Identifier: Apache-2.0
"""A grain of salt is warmed: screened pulls of its ions, steps in time, and how much their distances waver."""

import numpy as np
from scipy.special import erfc

from common import run

SCREEN = 0.6
EDGE = 2 * SCREEN / np.sqrt(np.pi)
HARD = 0.15
PUSH = 0.2
FIELD = 0.5
STEP = 0.02


def make_grain(rng, side):
    """A cube of ions, signs in turn, a little shaken."""
    axis = np.arange(side)
    sites = np.array([(x, y, z) for x in axis for y in axis for z in axis]).T
    signs = 1.0 - 2.0 * (sites.sum(axis=0) % 2)
    return sites + rng.normal(0, 0.03, sites.shape), signs


def pull(places, charges):
    """Forces on all ions, their energy, and their distances."""
    apart = places[:, :, None] - places[:, None, :]
    far = np.sqrt(np.einsum("kij,kij->ij", apart, apart))
    np.fill_diagonal(far, np.inf)
    energy = 0.5 * (charges * erfc(SCREEN * far) / far + PUSH * HARD * np.exp((1.0 - far) / HARD)).sum()
    slope = charges * erfc(SCREEN * far) / far**2 + PUSH * np.exp((1.0 - far) / HARD)
    slope += charges * EDGE * np.exp(-((SCREEN * far) ** 2)) / far
    return np.einsum("ij,kij->ki", slope / far, apart), energy, far


def pull_fixed(places, charges):
    apart = places[:, :, None] - places[:, None, :]
    far = np.sqrt(np.einsum("kij,kij->ij", apart, apart))
    np.fill_diagonal(far, np.inf)
    screened = charges * erfc(SCREEN * far) / far
    push = PUSH * np.exp((1.0 - far) / HARD)
    energy = 0.5 * (screened + HARD * push).sum()
    slope = screened / far + push
    slope += charges * EDGE * np.exp(-((SCREEN * far) ** 2)) / far
    return np.einsum("ij,kij->ki", slope / far, apart), energy, far


class Wavering:
    """Lindemann's measure: how much pairs' distances vary, by their means."""

    def __init__(self, ions):
        self.pairs = np.triu_indices(ions, 1)
        self.sums = np.zeros(len(self.pairs[0]))
        self.squares = np.zeros(len(self.pairs[0]))
        self.times = 0

    def add(self, far):
        apart = far[self.pairs]
        self.sums += apart
        self.squares += apart * apart
        self.times += 1

    def value(self):
        mean = self.sums / self.times
        varied = np.maximum(self.squares / self.times - mean * mean, 0)
        return float((np.sqrt(varied) / mean).mean())


def warm(rng, places, charges, pull_of, warmth, steps):
    speeds = rng.normal(0, np.sqrt(warmth), places.shape)
    speeds -= speeds.mean(axis=1, keepdims=True)
    wavering = Wavering(len(charges))
    forces, energy, _ = pull_of(places, charges)
    for step in range(steps):
        speeds += 0.5 * STEP * forces
        places = places + STEP * speeds
        forces, energy, far = pull_of(places, charges)
        speeds += 0.5 * STEP * forces
        wavering.add(far)
        if step % 10 == 0:
            now = (speeds * speeds).mean()
            speeds *= np.sqrt(1 + 0.2 * (warmth / now - 1))
    return energy, wavering.value(), places


def one_pass(number, pull_of):
    rng = np.random.default_rng(number)
    places, signs = make_grain(rng, 4)
    charges = FIELD * np.outer(signs, signs)
    curve = []
    for warmth in (0.002, 0.01):
        energy, wavers, places = warm(rng, places, charges, pull_of, warmth, 40)
        curve.append([float(energy) / len(signs), wavers])
    return curve


if __name__ == "__main__":
    run(one_pass, pull, pull_fixed)
