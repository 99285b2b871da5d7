# SPDX-License-Identifier: Apache-2.0
"""Picks the variable stars out of nights of photometry and folds their light by the best period."""

from dataclasses import dataclass

import numpy as np

from runner import run

STARS, NIGHTS = 1_500, 260


@dataclass(frozen=True)
class Field:
    when: np.ndarray
    light: np.ndarray
    error: np.ndarray

    def __getitem__(self, chosen):
        return Field(self.when, self.light[chosen], self.error[chosen])

    def __truediv__(self, level):
        return Field(self.when, self.light / level, self.error / level)

    def level(self):
        return np.median(self.light, axis=1, keepdims=True)

    def restlessness(self):
        off = (self.light - 1) / self.error
        return np.einsum("ij,ij->i", off, off) / (self.light.shape[1] - 1)


def observe(seed):
    rng = np.random.default_rng(seed)
    when = np.sort(rng.uniform(0, 90, NIGHTS))
    light = rng.lognormal(2, 1, (STARS, 1)) * np.ones(NIGHTS)
    beat = rng.choice(STARS, 12, replace=False)
    period = rng.uniform(0.6, 9, 12)
    light[beat] *= 1 + 0.2 * np.sin(2 * np.pi * when / period[:, None])
    error = 0.02 * light * rng.uniform(0.7, 1.6, light.shape)
    return Field(when, light + rng.normal(0, 1, light.shape) * error, error)


def powers(field, frequencies):
    """The power of each star's light at each frequency, all at once."""
    wave = np.exp(-2j * np.pi * np.outer(field.when, frequencies))
    return np.abs((field.light - 1) @ wave) ** 2 / len(field.when)


def folded(field, period, bins=12):
    phase = (field.when / period[:, None]) % 1.0
    cell = (phase * bins).astype(int) + bins * np.arange(len(period))[:, None]
    count = np.bincount(cell.ravel(), minlength=bins * len(period))
    total = np.bincount(cell.ravel(), field.light.ravel(), minlength=bins * len(period))
    return (total / np.maximum(count, 1)).reshape(-1, bins)


def one_pass(number, step):
    field = observe(number)
    field = field / field.level()
    restless = field.restlessness()
    chosen = np.argsort(restless)[-15:]
    stars = field[chosen]
    frequencies = np.linspace(0.1, 1.8, 3_000)
    best = powers(stars, frequencies).argmax(axis=1)
    curves = folded(stars, 1 / frequencies[best])
    depth = curves.max(axis=1) - curves.min(axis=1)
    return sorted(chosen.tolist()), best.tolist(), depth.tolist()


if __name__ == "__main__":
    run(one_pass)
