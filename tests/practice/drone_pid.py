# SPDX-License-Identifier: Apache-2.0
"""Height control of a drone in gusts; picks the gains that shake least."""

import math
import random

import numpy as np

from common import run

STEP = 0.02
MASS = 1.4
THRUST = 26.0


class Controller:
    def __init__(self, gains, limiter):
        self.p, self.i, self.d = gains
        self.sum = 0.0
        self.before = None
        self.limit = limiter

    def command(self, error):
        self.sum = self.limit(self.sum + error * STEP, 4.0)
        slope = 0.0 if self.before is None else (error - self.before) / STEP
        self.before = error
        return self.p * error + self.i * self.sum + self.d * slope


def limit(value, most):
    return np.clip(value, -most, most)


def limit_fixed(value, most):
    return max(-most, min(value, most))


class Gusts:
    """Band-limited noise: a handful of drifting sines."""

    def __init__(self, seed):
        rng = random.Random(seed)
        self.waves = [(rng.uniform(0.05, 2.5), rng.uniform(0, 6.28), rng.gauss(0, 0.5)) for _ in range(24)]

    def at(self, t):
        push = 0.0
        for pace, phase, size in self.waves:
            push += size * math.sin(pace * t + phase)
        return push


def fly(gains, gusts, limiter, seconds=24.0):
    controller = Controller(gains, limiter)
    height, speed = 0.0, 0.0
    heights = []
    for n in range(int(seconds / STEP)):
        t = n * STEP
        target = 10.0 if t > 1.0 else 5.0
        push = limiter(controller.command(target - height), THRUST)
        drag = 0.25 * speed * abs(speed)
        speed += STEP * ((push + gusts.at(t) - drag) / MASS - 9.81)
        height = max(0.0, height + STEP * speed)
        heights.append(height)
    return heights


def shaking(heights):
    settled = np.asarray(heights[len(heights) // 2 :])
    return float(np.abs(np.diff(settled, 2)).mean() / STEP**2 + settled.std())


def one_pass(number, limiter):
    results = []
    for p in (8.0, 12.0, 16.0):
        for d in (4.0, 6.0):
            gusts = Gusts("%d %g %g" % (number, p, d))
            results.append((shaking(fly((p, 3.0, d), gusts, limiter)), p, d))
    return min(results)


if __name__ == "__main__":
    run(one_pass, limit, limit_fixed)
