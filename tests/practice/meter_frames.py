# SPDX-License-Identifier: Apache-2.0
"""Reads the radio frames of electricity meters: checks them, unpacks the quarter hours, keeps the peaks."""

import random
import struct
import zlib
from itertools import accumulate

from common import run

HEAD = struct.Struct(">2sIHBx")
TAIL = struct.Struct(">I")
MAGIC = b"EM"


def written(rng, meter, quarter):
    many = rng.randrange(60, 96)
    flat = rng.getrandbits(8 * many).to_bytes(many, "little")
    first = rng.randrange(2_000)
    deltas = [first, *(byte % 61 - 30 for byte in flat)]
    frame = HEAD.pack(MAGIC, meter, quarter, len(deltas)) + struct.pack(">%dh" % len(deltas), *deltas)
    frame += TAIL.pack(zlib.crc32(frame))
    if rng.random() < 0.02:
        frame = frame[:9] + bytes([frame[9] ^ 0x40]) + frame[10:]
    return frame


def steps(frame, many):
    return [struct.unpack_from(">h", frame, HEAD.size + 2 * k)[0] for k in range(many)]


def steps_fixed(frame, many):
    return struct.unpack_from(">%dh" % many, frame, HEAD.size)


def checked(frames, broken):
    for frame in frames:
        if TAIL.unpack_from(frame, len(frame) - 4)[0] == zlib.crc32(frame[:-4]):
            yield frame
        else:
            broken.append(frame)


def opened(frames, unpack):
    for frame in frames:
        _, meter, quarter, many = HEAD.unpack_from(frame)
        yield meter, quarter, list(accumulate(unpack(frame, many)))


class Day:
    def __init__(self):
        self.energy, self.peaks, self.flat = {}, {}, 0

    def add(self, meter, quarter, loads):
        self.energy[meter] = self.energy.get(meter, 0) + sum(loads) * 0.25
        top = max(loads)
        if top > self.peaks.get(meter, (-(10**6), 0))[0]:
            self.peaks[meter] = top, quarter + loads.index(top)
        runs = 0
        for before, after in zip(loads, loads[1:]):
            runs = runs + 1 if abs(after - before) < 8 else 0
            if runs == 4:
                self.flat += 1


def one_pass(number, unpack):
    rng = random.Random(number ^ 0x5EED)
    frames = (written(rng, rng.randrange(400), 96 * day) for day in range(30) for _ in range(60))
    broken = []
    day = Day()
    for reading in opened(checked(frames, broken), unpack):
        day.add(*reading)
    highest = sorted(day.peaks.items(), key=lambda item: (-item[1][0], item[0]))[:5]
    return len(broken), day.flat, highest, round(sum(day.energy.values()), 2)


if __name__ == "__main__":
    run(one_pass, steps, steps_fixed)
