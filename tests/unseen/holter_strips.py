# SPDX-License-Identifier: Apache-2.0
"""A pocket heart recorder's memory: strips of two-byte samples are decoded, beats found and odd ones marked."""

import math
import random
import struct

from runner import run

RATE = 125
STRIPS = 12
SECONDS = 16
BASE = 2048


def decode(strip):
    """Samples of twelve bits, the low byte first."""
    return [strip[i] | strip[i + 1] << 8 for i in range(0, len(strip), 2)]


def decode_fixed(strip):
    return struct.unpack("<%dH" % (len(strip) // 2), strip)


class Recorder:
    """What the recorder would have stored of a heart that now and then beats too early."""

    def __init__(self, rnd):
        self.rnd = rnd
        self.wave = [int(1100 * math.exp(-((i - 6) / 2.2) ** 2)) for i in range(13)]

    def strip(self):
        samples = [BASE + (noise & 31) for noise in self.rnd.randbytes(RATE * SECONDS)]
        at = self.rnd.randrange(20, 90)
        while at + len(self.wave) < len(samples):
            for i, rise in enumerate(self.wave):
                samples[at + i] += rise
            at += int(RATE * (0.45 if self.rnd.random() < 0.06 else self.rnd.gauss(0.84, 0.03)))
        return struct.pack("<%dH" % len(samples), *samples)


def beats(samples):
    """Where the signal crosses half the height of its peaks, upwards, and rests a while then."""
    level = BASE + (max(samples) - BASE) // 2
    rest = 0
    for at, value in enumerate(samples):
        if value > level and at >= rest:
            rest = at + RATE // 4
            yield at


def judge(places):
    """Pulse a minute and the beats that came early, by the mean of the last five."""
    gaps = [after - before for before, after in zip(places, places[1:])]
    early = []
    for i in range(5, len(gaps)):
        mean = sum(gaps[i - 5 : i]) / 5
        if gaps[i] < 0.75 * mean:
            early.append(places[i + 1])
    return 60 * RATE * len(gaps) / max(1, sum(gaps)), early


def one_pass(number, step):
    recorder = Recorder(random.Random(number))
    memory = [recorder.strip() for _ in range(STRIPS)]
    report = []
    for minute, strip in enumerate(memory):
        samples = step(strip)
        pulse, early = judge(list(beats(samples)))
        report.append((minute, round(pulse, 2), early))
    return report


if __name__ == "__main__":
    run(one_pass, decode, decode_fixed)
