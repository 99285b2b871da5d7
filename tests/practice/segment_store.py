# SPDX-License-Identifier: Apache-2.0
"""A key-value store in layers, as databases have it: a log, a table in memory, sorted segments with filters, and merges of those."""

import heapq
import random
import struct
import zlib
from bisect import bisect_left, insort
from contextlib import contextmanager
from hashlib import blake2b
from itertools import groupby
from operator import itemgetter

from common import run

HEAD = struct.Struct("<IHI")
GONE = object()


class Filter:
    """Says for sure that a key is not in a segment; where it says yes, it may be."""

    def __init__(self, count):
        self.bits = bytearray(count * 2 + 8)

    def places(self, marks):
        size = len(self.bits) * 8
        return marks[0] % size, marks[1] % size, sum(marks) % size

    def add(self, marks):
        for place in self.places(marks):
            self.bits[place >> 3] |= 1 << (place & 7)

    def may_have(self, marks):
        return all(self.bits[place >> 3] >> (place & 7) & 1 for place in self.places(marks))


def marks(key):
    return struct.unpack("<QQ", blake2b(key, digest_size=16).digest())


class Segment:
    """Sorted pairs that do not change any more."""

    def __init__(self, rows):
        self.rows = rows
        self.keys = [row[0] for row in rows]
        self.filter = Filter(len(rows))
        for row in rows:
            self.filter.add(row[2])

    def get(self, key, found):
        if not self.filter.may_have(found):
            return None
        at = bisect_left(self.keys, key)
        return self.rows[at][1] if at < len(self.keys) and self.keys[at] == key else None

    def scan(self, low, high, age):
        for at in range(bisect_left(self.keys, low), bisect_left(self.keys, high)):
            yield self.keys[at], age, self.rows[at]


class Log:
    """What is not in a segment yet, so that it can be read again after a fall."""

    def __init__(self):
        self.parts = bytearray()

    def append(self, key, value):
        body = key + (b"" if value is GONE else value)
        self.parts += HEAD.pack(zlib.crc32(body), len(key), len(body))
        self.parts += body

    def replay(self):
        at = 0
        while at < len(self.parts):
            checksum, length, size = HEAD.unpack_from(self.parts, at)
            body = bytes(self.parts[at + HEAD.size : at + HEAD.size + size])
            assert zlib.crc32(body) == checksum
            yield body[:length], body[length:] or GONE
            at += HEAD.size + size


class Store:
    def __init__(self, most=160, layers=4):
        self.table, self.order, self.log = {}, [], Log()
        self.segments = []
        self.most, self.layers = most, layers
        self.merged = 0

    @contextmanager
    def batch(self):
        """Writes of a batch are in the log before any of them is in the table."""
        writes = []
        yield writes
        for key, value in writes:
            self.log.append(key, value)
        for key, value in writes:
            if key not in self.table:
                insort(self.order, key)
            self.table[key] = value
        if len(self.table) >= self.most:
            self.flush()

    def flush(self):
        self.segments.insert(0, Segment([(key, self.table[key], marks(key)) for key in self.order]))
        self.table, self.order, self.log = {}, [], Log()
        if len(self.segments) > self.layers:
            rows = list(self.scan(b"", b"\xff"))
            self.merged += len(rows)
            self.segments = [Segment(rows)]

    def get(self, key):
        value = self.table.get(key)
        if value is None:
            found = marks(key)
            hits = (segment.get(key, found) for segment in self.segments)
            value = next((hit for hit in hits if hit is not None), None)
        return None if value is GONE else value

    def scan(self, low, high):
        """All rows from low up to high: of those of one key, the youngest."""
        inside = self.order[bisect_left(self.order, low) : bisect_left(self.order, high)]
        young = [(key, 0, (key, self.table[key], None)) for key in inside]
        layers = [segment.scan(low, high, age) for age, segment in enumerate(self.segments, 1)]
        for _, same in groupby(heapq.merge(young, *layers, key=itemgetter(0, 1)), key=itemgetter(0)):
            row = next(same)[2]
            if row[1] is not GONE:
                yield row


def one_pass(number, step):
    rnd = random.Random(number)
    store = Store()
    met, read, scanned = 0, 0, 0
    for _ in range(60):
        with store.batch() as writes:
            for _ in range(20):
                key = b"user:%05d" % rnd.randrange(4_000)
                writes.append((key, GONE if rnd.random() < 0.1 else b"%d/" % rnd.randrange(99) + rnd.randbytes(12)))
        for _ in range(16):
            value = store.get(b"user:%05d" % rnd.randrange(4_000))
            met += value is not None
            read = zlib.crc32(value or b"-", read)
        low = rnd.randrange(3_900)
        scanned += sum(len(row[1]) for row in store.scan(b"user:%05d" % low, b"user:%05d" % (low + 90)))
    again = dict(store.log.replay())
    return met, read, scanned, store.merged, again == store.table, len(store.segments)


if __name__ == "__main__":
    run(one_pass)
