# SPDX-License-Identifier: Apache-2.0
"""Ships' radio reports come in as large reads of a byte stream: frames are cut out and checked, tracks and names are kept."""

import math
import random
import struct
import zlib
from collections import Counter

from common import run

SYNC = 0xA5
HEAD = struct.Struct("<BBB")
POSITION = struct.Struct("<IiiHH")
SUM = struct.Struct("<I")
READ = 200_000
POSITION_REPORT, STATIC_REPORT = 1, 5


def frame(kind, body):
    packed = HEAD.pack(SYNC, kind, len(body)) + body
    return packed + SUM.pack(zlib.crc32(packed))


def recording(rnd, ships, rounds):
    """What the aerial gave in a night, with some noise between the frames."""
    places = [(rnd.randrange(30_000_000, 33_000_000), rnd.randrange(1_000_000, 4_000_000)) for _ in range(ships)]
    parts = []
    for _ in range(rounds):
        for ship, (lat, lon) in enumerate(places):
            lat, lon = places[ship] = lat + rnd.getrandbits(9) - 256, lon + rnd.getrandbits(9) - 200
            parts.append(frame(POSITION_REPORT, POSITION.pack(211_000_000 + ship, lat, lon, ship * 7 & 255, ship * 11 % 360)))
        ship = rnd.randrange(ships)
        parts.append(frame(STATIC_REPORT, struct.pack("<I", 211_000_000 + ship) + b"MV SHIP %d" % ship))
        if rnd.random() < 0.3:
            parts.append(rnd.randbytes(5).replace(b"\xa5", b"\x00"))
    return b"".join(parts)


class Ship:
    def __init__(self):
        self.name = ""
        self.lat = self.lon = None
        self.miles = 0.0

    def move(self, lat, lon):
        if self.lat is not None:
            east = (lon - self.lon) * math.cos(math.radians(lat / 600_000))
            self.miles += math.hypot(lat - self.lat, east) / 10_000
        self.lat, self.lon = lat, lon


class Receiver:
    def __init__(self):
        self.buffer = b""
        self.ships = {}
        self.counts = Counter()

    def ship(self, mmsi):
        if mmsi not in self.ships:
            self.ships[mmsi] = Ship()
        return self.ships[mmsi]

    def handle(self, kind, body):
        self.counts[kind] += 1
        if kind == POSITION_REPORT:
            mmsi, lat, lon, _, _ = POSITION.unpack(body)
            self.ship(mmsi).move(lat, lon)
        elif kind == STATIC_REPORT:
            self.ship(int.from_bytes(body[:4], "little")).name = body[4:].decode()

    def feed(self, data):
        self.buffer += data
        while len(self.buffer) >= HEAD.size:
            sync, kind, length = HEAD.unpack_from(self.buffer)
            if sync != SYNC:
                self.counts["noise"] += 1
                self.buffer = self.buffer[1:]
                continue
            end = HEAD.size + length
            if len(self.buffer) < end + SUM.size:
                break
            if SUM.unpack_from(self.buffer, end)[0] == zlib.crc32(self.buffer[:end]):
                self.handle(kind, self.buffer[HEAD.size : end])
            self.buffer = self.buffer[end + SUM.size :]


class StridingReceiver(Receiver):
    def feed(self, data):
        buffer, at = self.buffer + data, 0
        while len(buffer) - at >= HEAD.size:
            sync, kind, length = HEAD.unpack_from(buffer, at)
            if sync != SYNC:
                self.counts["noise"] += 1
                at += 1
                continue
            end = at + HEAD.size + length
            if len(buffer) < end + SUM.size:
                break
            if SUM.unpack_from(buffer, end)[0] == zlib.crc32(buffer[at:end]):
                self.handle(kind, buffer[at + HEAD.size : end])
            at = end + SUM.size
        self.buffer = buffer[at:]


def one_pass(number, kind):
    night = recording(random.Random(number), 90, 150)
    receiver = kind()
    for at in range(0, len(night), READ):
        receiver.feed(night[at : at + READ])
    far = sorted(((ship.miles, ship.name) for ship in receiver.ships.values()), reverse=True)
    return far[:5], sorted(map(str, receiver.counts.items())), len(receiver.buffer)


if __name__ == "__main__":
    run(one_pass, Receiver, StridingReceiver)
