# SPDX-License-Identifier: Apache-2.0
"""Takes down a small satellite's pass: frames are checked, unpacked and put together to tracks of its instruments."""

import random
import struct
import zlib
from itertools import accumulate

from runner import run

HEAD = struct.Struct(">HBBIH")
SYNC = 0xEB90
INSTRUMENTS = ("magnetometer", "sun sensor", "battery", "dosimeter")
FRAMES = 120
VALUES = 400
WIDE = (3, 7, 15, 31)
MASKS = [int.from_bytes(bytes([wide]) * VALUES, "little") for wide in WIDE]


def transmit(seed):
    """Frames as the antenna hears them; some are damaged on the way."""
    rnd = random.Random(seed)
    counters = [rnd.randrange(1000) for _ in INSTRUMENTS]
    for _ in range(FRAMES):
        which = rnd.randrange(len(INSTRUMENTS))
        counters[which] += 1
        deltas = (rnd.getrandbits(8 * VALUES) & MASKS[which]).to_bytes(VALUES, "little")
        body = zlib.compress(deltas, 6)
        head = HEAD.pack(SYNC, which, WIDE[which], counters[which], len(body))
        frame = bytearray(head + body + struct.pack(">I", zlib.crc32(head + body)))
        if rnd.random() < 0.05:
            frame[rnd.randrange(len(frame))] ^= 1 << rnd.randrange(8)
        yield bytes(frame)


class Track:
    def __init__(self, name):
        self.name = name
        self.level = 0
        self.highest = 0
        self.last = None
        self.gaps = 0

    def add(self, counter, wide, deltas):
        if self.last is not None and counter != self.last + 1:
            self.gaps += counter - self.last - 1
        self.last = counter
        middle = wide // 2
        curve = list(accumulate((delta - middle for delta in deltas), initial=self.level))
        self.level = curve[-1] // 2
        self.highest = max(self.highest, max(curve))


class Station:
    def __init__(self):
        self.tracks = [Track(name) for name in INSTRUMENTS]
        self.damaged = 0

    def receive(self, frame):
        (told,) = struct.unpack_from(">I", frame, len(frame) - 4)
        if zlib.crc32(frame[:-4]) != told:
            self.damaged += 1
            return
        _, which, wide, counter, size = HEAD.unpack_from(frame)
        deltas = zlib.decompress(frame[HEAD.size : HEAD.size + size])
        self.tracks[which].add(counter, wide, deltas)


def one_pass(number, step):
    station = Station()
    heard = 0
    for frame in transmit(number):
        station.receive(frame)
        heard += len(frame)
    return station.damaged, heard, [(track.name, track.level, track.highest, track.gaps) for track in station.tracks]


if __name__ == "__main__":
    run(one_pass)
