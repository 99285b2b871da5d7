# SPDX-License-Identifier: Apache-2.0
"""A telescope's bending mirror in a simulation: each frame's wavefront is taken apart into Zernike modes, which a servo takes out of the next."""

from math import factorial

import numpy as np
from scipy.ndimage import gaussian_filter

from common import run

SIDE = 44
FRAMES = 25
MODES = [(n, m) for n in range(1, 6) for m in range(-n, n + 1, 2)]


class Pupil:
    def __init__(self, hole):
        y, x = np.mgrid[-1 : 1 : SIDE * 1j, -1 : 1 : SIDE * 1j]
        self.far = np.hypot(x, y)
        self.turn = np.arctan2(y, x)
        self.open = (self.far <= 1) & (self.far >= hole)
        self.area = int(self.open.sum())

    def mode(self, n, m):
        """Zernike's polynomial over the pupil, with a mean square of about one."""
        size = abs(m)
        radial = np.zeros_like(self.far)
        for k in range((n - size) // 2 + 1):
            weight = (-1) ** k * factorial(n - k)
            weight /= factorial(k) * factorial((n + size) // 2 - k) * factorial((n - size) // 2 - k)
            radial += weight * self.far ** (n - 2 * k)
        wave = np.cos(size * self.turn) if m >= 0 else np.sin(size * self.turn)
        norm = np.sqrt((n + 1) * (1 if m == 0 else 2))
        return np.where(self.open, norm * radial * wave, 0.0)


class PupilFixed(Pupil):
    def __init__(self, hole):
        super().__init__(hole)
        self.made = {}

    def mode(self, n, m):
        if (n, m) not in self.made:
            self.made[n, m] = super().mode(n, m)
        return self.made[n, m]


class Air:
    """Two layers of bad air that drift across the pupil."""

    def __init__(self, rng):
        self.layers = [gaussian_filter(rng.normal(0, 1, (4 * SIDE, 4 * SIDE)), size) * size for size in (4.0, 9.0)]
        self.speeds = rng.integers(1, 5, (2, 2))

    def frame(self, number):
        total = np.zeros((SIDE, SIDE))
        for layer, (down, across) in zip(self.layers, self.speeds):
            top, left = number * down, number * across
            total += layer[top : top + SIDE, left : left + SIDE]
        return 2.2 * total


class Servo:
    def __init__(self, pupil, gain):
        self.pupil = pupil
        self.gain = gain
        self.command = dict.fromkeys(MODES, 0.0)

    def shape(self):
        surface = np.zeros((SIDE, SIDE))
        for (n, m), push in self.command.items():
            if push:
                surface += push * self.pupil.mode(n, m)
        return surface

    def measure(self, wave):
        return {(n, m): float((wave * self.pupil.mode(n, m)).sum()) / self.pupil.area for n, m in MODES}

    def frame(self, wave):
        left = np.where(self.pupil.open, wave - self.shape(), 0.0)
        for key, size in self.measure(left).items():
            self.command[key] = 0.99 * self.command[key] + self.gain * size
        return left


class Camera:
    """A long exposure of the star through what the mirror leaves of the air."""

    def __init__(self, pupil, wide=3 * SIDE):
        self.pupil = pupil
        self.field = np.zeros((wide, wide), complex)
        self.picture = np.zeros((wide, wide))
        steps = np.fft.fftfreq(wide, 1 / wide)
        self.ring = np.hypot(*np.meshgrid(steps, steps)).astype(int).ravel()

    def expose(self, left):
        self.field[:SIDE, :SIDE] = self.pupil.open * np.exp(1j * left)
        light = np.fft.fft2(self.field)
        self.picture += light.real**2 + light.imag**2
        return float(np.abs(light[0, 0]) / self.pupil.area)

    def half_light(self):
        within = np.cumsum(np.bincount(self.ring, self.picture.ravel()))
        return int(np.searchsorted(within, within[-1] / 2))


def one_pass(number, make_pupil):
    rng = np.random.default_rng(number)
    pupil = make_pupil(rng.uniform(0.1, 0.25))
    air, servo = Air(rng), Servo(pupil, rng.uniform(0.3, 0.6))
    camera = Camera(pupil)
    sharp = [camera.expose(servo.frame(air.frame(frame))) for frame in range(FRAMES)]
    return float(np.mean(sharp)), float(camera.picture.max()), camera.half_light()


if __name__ == "__main__":
    run(one_pass, Pupil, PupilFixed)
