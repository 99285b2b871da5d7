# SPDX-License-Identifier: Apache-2.0
"""Cuts a dictaphone's recordings at their silences: loudness and crossings of each block, then runs of quiet blocks."""

import io
import math
import random
import struct
import wave
from array import array
from operator import mul

from common import run

RATE = 8000
BLOCK = 160
ONE = struct.Struct("<h")
MANY = struct.Struct("<%dh" % BLOCK)
QUIET = bytes(value & 1 for value in range(256))  # samples of 0, 1, 256 or 257


def recording(rnd, seconds):
    """Words of a few tones with pauses, as a WAV file."""
    samples = array("h")
    while len(samples) < seconds * RATE:
        length = rnd.randrange(1000, 5000)
        if rnd.random() < 0.4:
            samples.frombytes(rnd.randbytes(length).translate(QUIET) * 2)
        else:
            period = [int(6000 * math.sin(2 * math.pi * at / 40) + rnd.gauss(0, 300)) for at in range(40)]
            samples.extend(period * (length // 40))
    file = io.BytesIO()
    with wave.open(file, "wb") as out:
        out.setnchannels(1)
        out.setsampwidth(2)
        out.setframerate(RATE)
        out.writeframes(samples.tobytes())
    return file.getvalue()


def one_by_one(data, start):
    return [ONE.unpack_from(data, 2 * at)[0] for at in range(start, start + BLOCK)]


def at_once(data, start):
    return MANY.unpack_from(data, 2 * start)


class Cutter:
    def __init__(self, block, level=900.0, least=5):
        self.block = block
        self.level = level
        self.least = least
        self.parts = []
        self.peak = 0

    def loudness(self, samples):
        self.peak = max(self.peak, max(samples), -min(samples))
        return math.sqrt(sum(map(mul, samples, samples)) / len(samples))

    def crossings(self, samples):
        signs = bytes(map((0).__gt__, samples))
        return signs.count(b"\x00\x01") + signs.count(b"\x01\x00")

    def cut(self, file):
        with wave.open(io.BytesIO(file)) as recorded:
            count = recorded.getnframes()
            data = recorded.readframes(count)
        quiet, begun, voiced = 0, None, 0
        for start in range(0, count - BLOCK + 1, BLOCK):
            samples = self.block(data, start)
            if self.loudness(samples) >= self.level:
                begun = start if begun is None else begun
                voiced += self.crossings(samples)
                quiet = 0
            else:
                quiet += 1
                if quiet == self.least and begun is not None:
                    self.parts.append((begun / RATE, start / RATE, voiced))
                    begun, voiced = None, 0
        return self.parts


def one_pass(number, block):
    rnd = random.Random(number)
    cutter = Cutter(block)
    for _ in range(4):
        cutter.cut(recording(rnd, 9))
    longest = max(end - begun for begun, end, _ in cutter.parts)
    return len(cutter.parts), cutter.parts[:3], longest, cutter.peak


if __name__ == "__main__":
    run(one_pass, one_by_one, at_once)
