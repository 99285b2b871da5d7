# SPDX-License-Identifier: Apache-2.0
"""Vibration of a mill's bearings: every block of samples gets its measures, and bearings are told by trend and by the lines of their damage."""

import numpy as np
from scipy import signal, stats

from common import run

RATE, BLOCK, BLOCKS = 8_192, 4_096, 14
FINE = 2 * BLOCK
HANN = np.hanning(BLOCK)
HERTZ = np.fft.rfftfreq(FINE, 1 / RATE)
TIME = np.arange(BLOCK) / RATE
BANDS = [slice(*np.searchsorted(HERTZ, band)) for band in ((10, 200), (200, 1_000), (1_000, 3_500))]
RING = np.exp(-np.arange(120) / 25) * np.sin(2 * np.pi * 1_900 * np.arange(120) / RATE)
BEARINGS = {"drive": 87.3, "idler": 121.9, "roll": 54.6}


def vibration(rng, damage, wear):
    """The shaft and its multiples, rubbing noise, and blows at the damage's rate that grow with wear."""
    shaft = sum(rng.normal(1, 0.1) / k * np.sin(2 * np.pi * 24.7 * k * TIME + rng.uniform(0, 6)) for k in range(1, 5))
    blows = np.zeros(BLOCK)
    blows[np.arange(rng.integers(60), BLOCK, RATE / damage).astype(int)] = wear
    return shaft + signal.oaconvolve(blows, RING)[:BLOCK] + rng.normal(0, 0.25, BLOCK)


class Block:
    def __init__(self, samples):
        self.samples = samples

    def power(self):
        return np.abs(np.fft.rfft(self.samples * HANN, FINE)) ** 2

    def bands(self):
        power = self.power()
        return [float(power[band].sum()) for band in BANDS]

    def centre(self):
        """The frequency at which the spectrum would balance."""
        power = self.power()
        return float(HERTZ @ power / power.sum())

    def flatness(self):
        power = self.power()[1:]
        return float(np.exp(np.log(power).mean()) / power.mean())

    def lines(self, places):
        """How far the lines at these places stand above what is about them."""
        power = self.power()
        above = []
        for at in places:
            above.append(power[at - 2 : at + 3].max() / np.median(power[max(at - 50, 0) : at + 50]))
        return float(np.mean(above))

    def blows(self):
        """Kurtosis, and the crest of the samples over their mean power."""
        return float(stats.kurtosis(self.samples)), float(np.abs(self.samples).max() / np.sqrt(np.mean(self.samples**2)))


class BlockFixed(Block):
    def __init__(self, samples):
        super().__init__(samples)
        self.kept = super().power()

    def power(self):
        return self.kept


class Bearing:
    def __init__(self, name, damage):
        self.name = name
        self.damage = damage
        self.places = np.searchsorted(HERTZ, damage * np.arange(1, 5)).tolist()
        self.rows = []

    def envelope(self, samples):
        """The line of the damage in the envelope of the ringing band."""
        ringing = np.abs(signal.hilbert(samples - samples.mean()))
        power = np.abs(np.fft.rfft(ringing - ringing.mean(), FINE)) ** 2
        at = round(self.damage * FINE / RATE)
        return float(power[at - 2 : at + 3].max() / np.median(power[5 : 4 * at]))

    def measure(self, block):
        self.rows.append((*block.bands(), block.centre(), block.flatness(), block.lines(self.places), *block.blows(), self.envelope(block.samples)))

    def verdict(self):
        """Slopes over time of all measures, in their own spreads; the steepest tells."""
        table = np.log(np.abs(np.array(self.rows)) + 1e-9)
        time = np.arange(len(table)) - (len(table) - 1) / 2
        slopes = time @ (table - table.mean(axis=0)) / (time @ time)
        spread = table.std(axis=0) + 1e-9
        return self.name, int(np.argmax(np.abs(slopes / spread))), slopes.round(6).tolist()


def one_pass(number, make):
    rng = np.random.default_rng(number)
    verdicts = []
    for name, damage in BEARINGS.items():
        bearing, grows = Bearing(name, damage), rng.uniform(0, 0.4)
        for at in range(BLOCKS):
            bearing.measure(make(vibration(rng, damage, 0.3 + grows * at)))
        verdicts.append(bearing.verdict())
    return verdicts


if __name__ == "__main__":
    run(one_pass, Block, BlockFixed)
