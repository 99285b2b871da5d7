# SPDX-License-Identifier: Apache-2.0
"""Reads a day's satellite dump of a weather buoy: frames of several kinds behind one another, with checksums."""

import binascii
import random
import struct
from collections import Counter

from runner import run

HEAD = struct.Struct(">HBBI")
SYNC = 0xB40E
WIND, WAVE, NOTE = 1, 2, 3
WIND_BODY = struct.Struct(">hhH")
WAVE_BODY = struct.Struct(">HHHH")


def dump(seed, frames):
    rng = random.Random(seed)
    out = bytearray()
    at = seed * 86_400
    for _ in range(frames):
        at += rng.randrange(1, 60)
        kind = rng.choice((WIND, WIND, WAVE, WAVE, NOTE))
        if kind == WIND:
            body = WIND_BODY.pack(rng.randrange(-900, 900), rng.randrange(-900, 900), rng.randrange(2_000))
        elif kind == WAVE:
            body = WAVE_BODY.pack(*(rng.randrange(600) for _ in range(4)))
        else:
            body = rng.randbytes(rng.randrange(20, 90)).hex().encode()
        frame = HEAD.pack(SYNC, kind, len(body), at & 0xFFFFFFFF) + body
        crc = binascii.crc_hqx(frame, 0xFFFF)
        if rng.random() < 0.02:
            crc ^= 1
        out += frame + struct.pack(">H", crc)
    return bytes(out)


def frames(data):
    while data:
        sync, kind, length, at = HEAD.unpack_from(data)
        if sync != SYNC:
            raise ValueError("lost the frames")
        end = HEAD.size + length
        good = binascii.crc_hqx(data[:end], 0xFFFF) == int.from_bytes(data[end : end + 2], "big")
        yield kind, at, data[HEAD.size : end] if good else None
        data = data[end + 2 :]


def frames_fixed(data):
    start = 0
    while start < len(data):
        sync, kind, length, at = HEAD.unpack_from(data, start)
        if sync != SYNC:
            raise ValueError("lost the frames")
        end = start + HEAD.size + length
        good = binascii.crc_hqx(data[start:end], 0xFFFF) == int.from_bytes(data[end : end + 2], "big")
        yield kind, at, data[start + HEAD.size : end] if good else None
        start = end + 2


class Log:
    def __init__(self):
        self.seen = Counter()
        self.gust = 0.0
        self.heights = []
        self.notes = 0

    def wind(self, body):
        east, north, gust = WIND_BODY.unpack(body)
        self.gust = max(self.gust, gust / 100, (east * east + north * north) ** 0.5 / 100)

    def wave(self, body):
        self.heights.append(sum(sorted(WAVE_BODY.unpack(body))[1:]) / 300)

    def note(self, body):
        self.notes = binascii.crc32(binascii.unhexlify(body), self.notes)

    def take(self, stream):
        last = 0
        for kind, at, body in stream:
            if body is None:
                self.seen["bad"] += 1
                continue
            self.seen[kind] += 1
            self.seen["gap"] += at - last > 50
            last = at
            (self.wind, self.wave, self.note)[kind - 1](body)


def one_pass(number, split):
    log = Log()
    log.take(split(dump(number, 11_000)))
    return sorted(map(str, log.seen.items())), log.gust, log.notes, sum(log.heights)


if __name__ == "__main__":
    run(one_pass, frames, frames_fixed)
