# SPDX-License-Identifier: Apache-2.0
"""Ageing of street lamps: readings of luminous flux are corrected by each lamp type's calibration curve and fitted."""

import numpy as np
from scipy.interpolate import PchipInterpolator

from common import run

TYPES = 4
LAMPS = 150


class Calibration:
    """Reference readings of a lamp type, from the photometer's certificate."""

    def __init__(self, rng):
        self.raw = np.cumsum(rng.uniform(0.5, 1.5, 60))
        self.flux = 900.0 * np.log1p(self.raw) + np.cumsum(rng.uniform(0.0, 3.0, 60))


class Lamp:
    def __init__(self, number, kind, hours, raw):
        self.number = number
        self.kind = kind
        self.hours = hours
        self.raw = raw


def linearise(raw, certificate):
    curve = PchipInterpolator(certificate.raw, certificate.flux)
    return curve(np.clip(raw, certificate.raw[0], certificate.raw[-1]))


def corrected(lamp, certificate, ambient):
    dark = np.minimum.accumulate(lamp.raw[::-1])[::-1]
    raw = lamp.raw - 0.02 * (lamp.raw - dark)
    return linearise(raw, certificate) * (1 + 0.0015 * (ambient - 20.0))


def decline(hours, flux):
    """Flux falls exponentially: rate and flux at the start, by a robust straight line through its logarithm."""
    level = np.log(flux)
    weight = np.ones_like(level)
    for _ in range(3):
        total = weight.sum()
        middle_x, middle_y = (weight @ hours) / total, (weight @ level) / total
        along, rise = hours - middle_x, level - middle_y
        pull = weight * along
        slope = (pull @ rise) / (pull @ along)
        left = np.abs(rise - slope * along)
        weight = 1 / (1 + (left / (1e-9 + np.median(left))) ** 2)
    return slope, middle_y - slope * middle_x


def lamps(rng, certificates):
    for number in range(LAMPS):
        kind = int(rng.integers(TYPES))
        hours = np.sort(rng.uniform(0, 9_000, 240))
        raw = certificates[kind].raw[-4] * np.exp(-hours / rng.uniform(9_000, 30_000)) * rng.normal(1, 0.01, len(hours))
        yield Lamp(number, kind, hours, raw)


def as_written(number):
    rng = np.random.default_rng(number)
    certificates = [Calibration(rng) for _ in range(TYPES)]
    for lamp in lamps(rng, certificates):
        flux = corrected(lamp, certificates[lamp.kind], 8.0 + lamp.number % 17)
        yield lamp.number, decline(lamp.hours, flux)


def fixed(number):
    rng = np.random.default_rng(number)
    certificates = [Calibration(rng) for _ in range(TYPES)]
    curves = [PchipInterpolator(certificate.raw, certificate.flux) for certificate in certificates]
    for lamp in lamps(rng, certificates):
        dark = np.minimum.accumulate(lamp.raw[::-1])[::-1]
        raw = lamp.raw - 0.02 * (lamp.raw - dark)
        certificate = certificates[lamp.kind]
        flux = curves[lamp.kind](np.clip(raw, certificate.raw[0], certificate.raw[-1])) * (1 + 0.0015 * (8.0 + lamp.number % 17 - 20.0))
        yield lamp.number, decline(lamp.hours, flux)


def one_pass(number, step):
    worst, total = [], 0.0
    for lamp, (slope, start) in step(number):
        total += start
        worst.append((float(slope), lamp))
    worst.sort()
    return float(total), [slope for slope, _ in worst[:5]], [lamp for _, lamp in worst[:5]]


if __name__ == "__main__":
    run(one_pass, as_written, fixed)
