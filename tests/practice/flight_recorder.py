# SPDX-License-Identifier: Apache-2.0
"""Reads a glider's flight recorder: fixed-size records into one ctypes structure."""

import ctypes
import random
import tempfile
import zlib

from common import run


class Record(ctypes.LittleEndianStructure):
    _pack_ = 1
    _fields_ = [
        ("tick", ctypes.c_uint32),
        ("lat", ctypes.c_int32),
        ("lon", ctypes.c_int32),
        ("metres", ctypes.c_int16),
        ("climb", ctypes.c_int16),
        ("flags", ctypes.c_uint8 * 4),
        ("check", ctypes.c_uint32),
    ]


SIZE = ctypes.sizeof(Record)
BODY = Record.check.offset


def write_flight(rng, log, count):
    record = Record()
    lat, lon, metres = rng.randrange(46 * 10**6, 48 * 10**6), rng.randrange(8 * 10**6, 12 * 10**6), 900.0
    for tick in range(count):
        climb = rng.gauss(0.2, 1.5)
        metres = min(max(metres + climb, 300), 4500)
        lat += rng.randrange(-90, 120)
        lon += rng.randrange(-90, 120)
        record.tick, record.lat, record.lon = tick, lat, lon
        record.metres, record.climb = int(metres), int(100 * climb)
        record.flags[tick % 4] = rng.randrange(200)
        record.check = zlib.crc32(bytes(record)[:BODY])
        if rng.random() < 0.01:
            record.check ^= 1
        log.write(record)


class Flight:
    def __init__(self, log):
        self.log = log
        self.record = Record()
        self.damaged = 0
        self.events = 0

    def next(self):
        while self.log.readinto(self.record) == SIZE:
            if zlib.crc32(bytes(self.record)[:BODY]) == self.record.check:
                return True
            self.damaged += 1
        return False

    def busy(self):
        return sum(self.record.flags) > 400

    def height(self):
        return self.record.metres


def thermals(flight, least=12):
    """Stretches of climbing: their gain and where they began."""
    found, start, rising = [], None, 0
    while flight.next():
        flight.events += flight.busy()
        if flight.record.climb > 0:
            if start is None:
                start = flight.height(), flight.record.lat, flight.record.lon
            rising += 1
        elif start is not None and flight.record.climb < -150:
            if rising >= least:
                found.append((flight.height() - start[0], *start))
            start, rising = None, 0
    return found


def one_pass(number, _):
    with tempfile.TemporaryFile() as log:
        write_flight(random.Random(number), log, 6000)
        log.seek(0)
        flight = Flight(log)
        found = thermals(flight)
    return [flight.damaged, flight.events, len(found), *max(found, default=())]


if __name__ == "__main__":
    run(one_pass)
