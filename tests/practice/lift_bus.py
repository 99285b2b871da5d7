# SPDX-License-Identifier: Apache-2.0
"""The lifts of a tower on one serial bus: frames are cut out of the stream, checked, and followed floor by floor."""

import random
import struct

from common import run

START, BODY = 0x7E, struct.Struct("<BBhHHHI")
MOVES = ["rest", "up", "down", "doors"]


def sum_table():
    """Four bits of CRC-16/X-25 at a time."""
    table = []
    for value in range(16):
        for _ in range(4):
            value = value >> 1 ^ (0x8408 if value & 1 else 0)
        table.append(value)
    return table


TABLE = sum_table()


def sum_table_fixed():
    return TABLE


def make_sum(table_of):
    def frame_sum(body):
        table = table_of()
        total = 0xFFFF
        for byte in body:
            total = total >> 4 ^ table[(total ^ byte) & 15]
            total = total >> 4 ^ table[(total ^ byte >> 4) & 15]
        return total ^ 0xFFFF

    return frame_sum


class Lift:
    def __init__(self, number):
        self.number = number
        self.height, self.load, self.stops = 0, 0, 0
        self.travelled = self.heaviest = 0
        self.log = []

    def told(self, move, height, load, amps, tick, panel):
        if MOVES[move] == "doors":
            self.stops += 1
            self.log.append("%d: lift %d at floor %d" % (tick, self.number, height // 320))
        self.travelled += abs(height - self.height)
        self.heaviest = max(self.heaviest, load)
        self.height, self.load = height, load
        pressed = [floor for floor in range(24) if panel >> floor & 1]
        if pressed and amps > 900:
            self.log.append("%d: lift %d wanted at %s" % (tick, self.number, pressed))


def frames(stream, frame_sum):
    """Bodies that came whole; what does not add up is passed over byte by byte."""
    at, bad = 0, 0
    while at + 1 + BODY.size + 2 <= len(stream):
        if stream[at] != START:
            at += 1
            continue
        body = stream[at + 1 : at + 1 + BODY.size]
        if frame_sum(body) == int.from_bytes(stream[at + 1 + BODY.size : at + 3 + BODY.size], "little"):
            yield body
            at += 3 + BODY.size
        else:
            bad += 1
            at += 1
    yield bad


def make_stream(rng, count):
    good = make_sum(sum_table_fixed)
    stream = bytearray()
    for tick in range(count):
        panel = rng.getrandbits(24) & rng.getrandbits(24) & rng.getrandbits(24)
        height = rng.randrange(-320, 9600)
        load, amps = rng.randrange(1200), rng.randrange(1000)
        body = BODY.pack(rng.randrange(6), rng.randrange(4), height, load, amps, tick, panel)
        stream += bytes([START]) + body + good(body).to_bytes(2, "little")
        if rng.random() < 0.05:
            stream[-rng.randrange(1, 14)] ^= 1 << rng.randrange(8)
    return bytes(stream)


def one_pass(number, table_of):
    lifts = [Lift(n) for n in range(6)]
    bad = 0
    for body in frames(make_stream(random.Random(number), 900), make_sum(table_of)):
        if isinstance(body, int):
            bad = body
        else:
            lift, *rest = BODY.unpack(body)
            lifts[lift].told(*rest)
    return [bad, [[lift.travelled, lift.heaviest, lift.stops, lift.log[-1:]] for lift in lifts]]


if __name__ == "__main__":
    run(one_pass, sum_table, sum_table_fixed)
