# SPDX-License-Identifier: Apache-2.0
"""Smoke above chimneys for a film: a grid of velocities is carried along, pushed by heat and made free of divergence at each frame."""

from contextlib import contextmanager

import numpy as np
from scipy import ndimage, sparse
from scipy.sparse.linalg import splu, spsolve

from common import run

ROWS, COLUMNS, FRAMES, STEP = 36, 28, 7, 0.6


def laplacian(open_top):
    """Five-point stencil with walls at the sides and below; the sky above holds the pressure."""

    def line(count, ends):
        diagonal = np.full(count, 2.0)
        diagonal[0] = 1.0
        diagonal[-1] = ends
        return sparse.diags([-np.ones(count - 1), diagonal, -np.ones(count - 1)], [-1, 0, 1])

    down = line(ROWS, 2.0 + open_top)
    across = line(COLUMNS, 1.0)
    return sparse.kronsum(across, down, format="csc")


class Pressure:
    """Takes the divergence out of a field of velocities."""

    def __init__(self, matrix):
        self.matrix = matrix

    def solve(self, divergence):
        return spsolve(self.matrix, divergence)

    def project(self, u, v):
        divergence = np.gradient(u, axis=1) + np.gradient(v, axis=0)
        pressure = self.solve(-divergence.ravel()).reshape(u.shape)
        u -= np.gradient(pressure, axis=1)
        v -= np.gradient(pressure, axis=0)
        return float(np.abs(divergence).max())


class PressureFixed(Pressure):
    def __init__(self, matrix):
        super().__init__(matrix)
        self.factors = splu(matrix)

    def solve(self, divergence):
        return self.factors.solve(divergence)


class Source:
    def __init__(self, rng):
        self.at = (slice(1, 4), slice(int(rng.integers(3, 10)), int(rng.integers(14, 24))))
        self.strength = rng.uniform(0.3, 0.9)

    def blow(self, sim):
        sim.smoke[self.at] += self.strength * STEP
        sim.heat[self.at] = 1.0


class Simulation:
    def __init__(self, rng, pressure):
        self.places = np.mgrid[:ROWS, :COLUMNS].astype(float)
        self.u, self.v, self.smoke, self.heat = (np.zeros((ROWS, COLUMNS)) for _ in range(4))
        self.pressure = pressure
        self.sources = [Source(rng) for _ in range(3)]
        self.wind = rng.uniform(-0.4, 0.4, FRAMES)
        self.log = []

    def carried(self, field, back):
        return ndimage.map_coordinates(field, back, order=1, mode="nearest")

    def whirl(self):
        """Small eddies that the grid has lost are put back in."""
        curl = np.gradient(self.v, axis=1) - np.gradient(self.u, axis=0)
        strength = np.abs(curl)
        down, across = np.gradient(strength)
        size = np.hypot(down, across) + 1e-5
        self.u += 0.15 * STEP * down / size * curl
        self.v -= 0.15 * STEP * across / size * curl

    @contextmanager
    def frame(self, number):
        self.u[-6:] += self.wind[number] * STEP
        yield
        self.log.append((float(self.smoke.sum()), float(self.v.max())))

    def advance(self):
        for source in self.sources:
            source.blow(self)
        self.v += (0.9 * self.heat - 0.1 * self.smoke) * STEP
        self.whirl()
        worst = self.pressure.project(self.u, self.v)
        back = self.places - STEP * np.stack([self.v, self.u])
        self.u, self.v, self.smoke, self.heat = (self.carried(field, back) for field in (self.u, self.v, self.smoke, self.heat))
        self.smoke = ndimage.gaussian_filter(self.smoke, 0.4)
        self.heat *= 0.97
        return worst

    def run(self):
        worst = []
        for number in range(FRAMES):
            with self.frame(number):
                worst.append(self.advance())
        return worst


def one_pass(number, pressure):
    rng = np.random.default_rng(number)
    sim = Simulation(rng, pressure(laplacian(rng.uniform(0.5, 1.0))))
    worst = sim.run()
    return worst, sim.log, float(sim.smoke[20:].sum())


if __name__ == "__main__":
    run(one_pass, Pressure, PressureFixed)
