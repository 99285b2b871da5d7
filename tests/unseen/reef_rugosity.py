# SPDX-License-Identifier: Apache-2.0
"""Rugosity, slope and light of scanned coral reefs, from their triangle meshes."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from runner import run


@dataclass
class Reef:
    points: np.ndarray
    faces: np.ndarray

    @property
    def spans(self):
        a, b, c = self.points[self.faces].transpose(1, 0, 2)
        return np.cross(b - a, c - a)

    def area(self):
        return 0.5 * np.linalg.norm(self.spans, axis=1).sum()

    def rugosity(self):
        flat = np.abs(self.spans[:, 2]).sum() * 0.5
        return self.area() / flat

    def slopes(self, bins):
        spans = self.spans
        length = np.sqrt((spans * spans).sum(axis=1))
        steep = np.degrees(np.arccos(np.clip(spans[:, 2] / length, -1, 1)))
        return np.histogram(steep, bins=bins, weights=length)[0] / length.sum()

    def light(self, sun):
        lit = np.maximum(self.spans @ sun, 0.0)
        at_point = np.bincount(self.faces.ravel(), np.repeat(lit, 3), minlength=len(self.points))
        depth = self.points[:, 2].max() - self.points[:, 2]
        return at_point * np.exp(-0.4 * depth)


class SettledReef(Reef):
    @cached_property
    def spans(self):
        a, b, c = self.points[self.faces].transpose(1, 0, 2)
        return np.cross(b - a, c - a)


def scan(seed):
    rng = np.random.default_rng(seed)
    wide, deep = rng.integers(80, 120, 2)
    x, y = np.meshgrid(np.linspace(0, 10, wide), np.linspace(0, 10, deep))
    z = np.zeros_like(x)
    for grain in (0.6, 1.7, 4.2):
        fx, fy, at = rng.uniform(0.5, 1.5, 3)
        z += np.sin(grain * fx * x + at) * np.cos(grain * fy * y) / grain
    z += rng.normal(0, 0.02, z.shape)
    corner = (np.arange(deep - 1)[:, None] * wide + np.arange(wide - 1)).ravel()
    upper = np.stack([corner, corner + 1, corner + wide], axis=1)
    lower = np.stack([corner + 1, corner + wide + 1, corner + wide], axis=1)
    points = np.stack([x, y, z], axis=2).reshape(-1, 3)
    return points, np.concatenate([upper, lower])


def report(reef, rng):
    noon = rng.normal(0, 0.3, 3)
    noon[2] = 1.0
    light = reef.light(noon / np.linalg.norm(noon))
    slopes = reef.slopes([0, 15, 30, 45, 90])
    bright, dim = np.quantile(light, [0.9, 0.1])
    return float(reef.rugosity()), slopes.tolist(), float(bright), float(dim)


def one_pass(number, kind):
    rng = np.random.default_rng(1_000 + number)
    return [report(kind(*scan(8 * number + plot)), rng) for plot in range(8)]


if __name__ == "__main__":
    run(one_pass, Reef, SettledReef)
