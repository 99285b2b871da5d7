# SPDX-License-Identifier: Apache-2.0
"""Decodes the dump of a weather buoy's modem: framed, checked, packed records."""

import random
import struct
import zlib

from common import run

SYNC = b"\xa5\x5a"
HEAD = struct.Struct("<2sBH")
WAVE = struct.Struct("<IHHhB")
POSITION = struct.Struct("<Iff")


def frame(kind, body):
    packet = HEAD.pack(SYNC, kind, len(body)) + body
    return packet + struct.pack("<I", zlib.crc32(packet))


def make_dump(rng, records):
    packets = []
    for n in range(records):
        if rng.random() < 0.1:
            body = POSITION.pack(n, rng.uniform(54, 58), rng.uniform(3, 8))
            packets.append(frame(2, body))
        else:
            height, period, warmth = rng.randrange(900), rng.randrange(40, 140), rng.randrange(-50, 250)
            body = WAVE.pack(n, height, period, warmth, rng.randrange(180))
            packets.append(frame(1, body))
        if rng.random() < 0.05:
            packets.append(bytes([rng.randrange(160)]))
    return b"".join(packets)


class Station:
    def __init__(self):
        self.waves = []
        self.track = []
        self.noise = 0

    def record(self, kind, body):
        if kind == 1:
            serial, height, period, warmth, heading = WAVE.unpack(body)
            self.waves.append((height / 100, period / 10, warmth / 10, 2 * heading))
        elif kind == 2:
            serial, lat, lon = POSITION.unpack(body)
            self.track.append((round(lat, 4), round(lon, 4)))

    def summary(self):
        highest = sorted((wave[0] for wave in self.waves), reverse=True)
        third = highest[: len(highest) // 3]
        energy = sum(height * height * period for height, period, _, _ in self.waves)
        return [len(self.waves), len(self.track), self.noise, sum(third) / len(third), energy]


def decode(dump, station):
    while len(dump) >= HEAD.size + 4:
        sync, kind, length = HEAD.unpack_from(dump)
        end = HEAD.size + length
        if sync != SYNC or len(dump) < end + 4:
            station.noise += 1
            dump = dump[1:]
            continue
        packet = dump[:end]
        if zlib.crc32(packet) == struct.unpack_from("<I", dump, end)[0]:
            station.record(kind, packet[HEAD.size :])
        dump = dump[end + 4 :]


def decode_fixed(dump, station):
    at = 0
    while len(dump) - at >= HEAD.size + 4:
        sync, kind, length = HEAD.unpack_from(dump, at)
        end = at + HEAD.size + length
        if sync != SYNC or len(dump) < end + 4:
            station.noise += 1
            at += 1
            continue
        packet = dump[at:end]
        if zlib.crc32(packet) == struct.unpack_from("<I", dump, end)[0]:
            station.record(kind, packet[HEAD.size :])
        at = end + 4


def one_pass(number, decoder):
    rng = random.Random(number)
    station = Station()
    decoder(make_dump(rng, 9000), station)
    return station.summary()


if __name__ == "__main__":
    run(one_pass, decode, decode_fixed)
