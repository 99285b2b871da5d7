# SPDX-License-Identifier: Apache-2.0
"""How much of which pigment is in the spots of a mural, from the light that each spot throws back."""

import numpy as np

from runner import run

BANDS = 200
PIGMENTS = ("ochre", "azurite", "malachite", "cinnabar", "lead white", "soot", "lime", "madder", "weld")
SPOTS = 90
GRAINS = 8
MIX = np.full(len(PIGMENTS), 0.6)


def library(rng):
    """One column of absorption for each pigment, with two humps of its own."""
    nm = np.linspace(400, 1000, BANDS)
    columns = []
    for _ in PIGMENTS:
        low, high = np.sort(rng.uniform(420, 980, 2))
        width = rng.uniform(30, 120, 2)
        columns.append(np.exp(-(((nm - low) / width[0]) ** 2)) + 0.6 * np.exp(-(((nm - high) / width[1]) ** 2)))
    return np.stack(columns, axis=1)


def spot(rng, pigments):
    """Reflections of the grains of one spot, in columns, with the scanner's noise."""
    shares = rng.dirichlet(MIX, GRAINS).T
    depth = rng.uniform(0.5, 1.5, GRAINS)
    noise = rng.normal(0, 0.003, (BANDS, GRAINS))
    return np.exp(-depth * (pigments @ shares)) + noise


def absorption(seen):
    """From reflections, without the floor that varnish lays under all bands."""
    depth = -np.log(np.clip(seen, 0.02, 1.0))
    return depth - depth.min(axis=0)


def shares(spots, pigments):
    return [np.linalg.pinv(pigments) @ absorption(seen) for seen in spots]


def shares_fixed(spots, pigments):
    inverse = np.linalg.pinv(pigments)
    return [inverse @ absorption(seen) for seen in spots]


def describe(parts):
    """The strongest pigment of each spot and how mixed its most mixed grain is."""
    parts = np.maximum(parts, 0)
    parts /= parts.sum(axis=0) + 1e-9
    mixed = -(parts * np.log(parts + 1e-9)).sum(axis=0)
    return PIGMENTS[int(parts.mean(axis=1).argmax())], float(mixed.max())


def one_pass(number, step):
    rng = np.random.default_rng(number)
    pigments = library(rng)
    spots = [spot(rng, pigments) for _ in range(SPOTS)]
    table = dict.fromkeys(PIGMENTS, 0)
    mixed = 0.0
    for parts in step(spots, pigments):
        name, entropy = describe(parts)
        table[name] += 1
        mixed += entropy
    return sorted(table.items()), mixed / SPOTS


if __name__ == "__main__":
    run(one_pass, shares, shares_fixed)
