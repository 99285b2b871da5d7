# SPDX-License-Identifier: Apache-2.0
"""Works out what a potter's kiln does to glazes: tables of a firing are built up in C, and let go when they were read."""
import ctypes
import random

import service

libc = ctypes.CDLL(None)
libc.malloc.restype = ctypes.c_void_p
libc.malloc.argtypes = [ctypes.c_size_t]
libc.realloc.restype = ctypes.c_void_p
libc.realloc.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
libc.free.argtypes = [ctypes.c_void_p]

ROW = 64
CRACKS_AT = 1290


class Table:
    """Rows of a firing in memory of C, doubled whenever it is full."""

    def __init__(self):
        self.room = 8
        self.rows = 0
        self.start = libc.malloc(self.room * ROW)

    def add(self, minute, degrees):
        if self.rows == self.room:
            self.room *= 2
            self.start = libc.realloc(self.start, self.room * ROW)
        ctypes.memset(self.start + self.rows * ROW, (minute + degrees) % 256, ROW)
        self.rows += 1

    def sum(self):
        return sum(ctypes.string_at(self.start, self.rows * ROW)[::ROW])

    def drop(self):
        libc.free(self.start)
        self.start = None


def fire(rng, table):
    degrees = 20
    for minute in range(rng.randrange(150, 400)):
        degrees += rng.randrange(0, 10)
        table.add(minute, degrees)
        if degrees > CRACKS_AT:
            return None
    return degrees


def firing(rng):
    table = Table()
    peak = fire(rng, table)
    if peak is None:
        return 0
    bright = table.sum() / peak
    table.drop()
    return bright


def main():
    rng = random.Random(23)
    best = 0.0
    for _ in service.rounds(per_second=20):
        for _ in range(8):
            best = max(best, firing(rng))
    print("best glaze %.2f" % best)


if __name__ == "__main__":
    main()
