# SPDX-License-Identifier: Apache-2.0
"""A relay for weather balloons: frames come in as bytes, their samples are read, smoothed and turned into a sounding."""

import math
import random
import struct
from array import array
from collections import deque

from common import run

HEAD = struct.Struct("<HIhB")
SAMPLES = 120


def frame(rnd, number, height):
    ground = 15.0 - 0.0065 * height + 4 * math.exp(-(((height - 2_500) / 400) ** 2))
    middle = round(100 * ground) - 127
    values = [middle + noise for noise in rnd.randbytes(SAMPLES)]
    body = struct.pack("<%dh" % SAMPLES, *values)
    return HEAD.pack(number, round(height), rnd.randint(-400, 400), sum(body) & 0xFF) + body


def samples(body):
    return [int.from_bytes(body[at : at + 2], "little", signed=True) for at in range(0, len(body), 2)]


def samples_fixed(body):
    return array("h", body).tolist()


class Sounding:
    def __init__(self, samples):
        self.samples = samples
        self.levels = []
        self.broken = 0
        self.last = None
        self.recent = deque(maxlen=5)

    def take(self, data):
        number, height, drift, check = HEAD.unpack_from(data)
        body = data[HEAD.size :]
        if sum(body) & 0xFF != check:
            self.broken += 1
            return
        if self.last is not None and number != self.last + 1:
            self.recent.clear()
        self.last = number
        warm, spread = self.smooth(self.samples(body))
        self.recent.append(warm)
        mean = sum(self.recent) / len(self.recent)
        self.levels.append((height, mean, spread, drift))

    def smooth(self, values):
        """The mean of a frame without its outer tenths, and how far these lie apart, in degrees."""
        ordered = sorted(values)
        cut = len(ordered) // 10
        kept = ordered[cut:-cut]
        return sum(kept) / len(kept) / 100, (ordered[-cut] - ordered[cut]) / 100

    def inversions(self):
        """Layers in which it gets warmer upwards."""
        found, start = [], None
        for (low, below, *_), (high, above, *_) in zip(self.levels, self.levels[1:]):
            if above > below:
                start = low if start is None else start
            elif start is not None:
                found.append((start, low))
                start = None
        return [layer for layer in found if layer[1] - layer[0] >= 40]

    def lapse(self):
        (low, below, *_), (high, above, *_) = self.levels[0], self.levels[-1]
        return 1000 * (above - below) / (high - low)


def flight(rnd):
    height = rnd.uniform(100, 500)
    for number in range(400):
        height += rnd.uniform(20, 35)
        data = frame(rnd, number, height)
        if rnd.random() < 0.02:
            continue
        if rnd.random() < 0.02:
            at = rnd.randrange(HEAD.size, len(data))
            data = data[:at] + bytes([data[at] ^ 0x40]) + data[at + 1 :]
        yield data


def one_pass(number, samples):
    sounding = Sounding(samples)
    for data in flight(random.Random(number)):
        sounding.take(data)
    layers = sounding.inversions()
    return len(sounding.levels), sounding.broken, layers[:3], sounding.lapse(), sum(spread for _, _, spread, _ in sounding.levels)


if __name__ == "__main__":
    run(one_pass, samples, samples_fixed)
