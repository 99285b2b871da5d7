# SPDX-License-Identifier: Apache-2.0
"""Puts a file together again from datagrams that came out of order and twice."""

import random
import struct
import zlib

from common import run

HEAD = struct.Struct("!IIHI")


def make_datagrams(rng, stream, count):
    place = 0
    for _ in range(count):
        body = rng.randbytes(rng.randrange(120, 500))
        yield HEAD.pack(stream, place, len(body), zlib.crc32(body)) + body
        place += len(body)


def disturb(rng, datagrams):
    held = []
    for datagram in datagrams:
        if rng.random() < 0.05:
            datagram = datagram[:-1] + bytes([datagram[-1] ^ 0x40])
        held.append(datagram)
        if rng.random() < 0.08:
            held.append(datagram)
        if len(held) > 12:
            yield held.pop(rng.randrange(len(held)))
    yield from held


class Assembly:
    def __init__(self, room):
        self.data = bytearray(room)
        self.have = set()
        self.damaged = 0
        self.doubles = 0

    def copy(self, place, body):
        for k in range(len(body)):
            self.data[place + k] = body[k]

    def take(self, datagram):
        stream, place, length, sum_sent = HEAD.unpack_from(datagram)
        body = datagram[HEAD.size : HEAD.size + length]
        if zlib.crc32(body) != sum_sent:
            self.damaged += 1
        elif (stream, place) in self.have:
            self.doubles += 1
        else:
            self.have.add((stream, place))
            self.copy(place, body)

    def gaps(self):
        last, found = 0, []
        for _, place in sorted(self.have):
            if place != last:
                found.append(last)
            last = place
        return found


class SlicedAssembly(Assembly):
    def copy(self, place, body):
        self.data[place : place + len(body)] = body


def line_lengths(data):
    return [len(line) for line in bytes(data).split(b"\n")]


def one_pass(number, kind):
    rng = random.Random(number)
    assembly = kind(500 * 900)
    for datagram in disturb(rng, make_datagrams(rng, number, 900)):
        assembly.take(datagram)
    packed = zlib.compress(assembly.data, 1)
    lengths = line_lengths(assembly.data)
    return [assembly.damaged, assembly.doubles, len(assembly.gaps()), len(packed), max(lengths), zlib.crc32(packed)]


if __name__ == "__main__":
    run(one_pass, Assembly, SlicedAssembly)
