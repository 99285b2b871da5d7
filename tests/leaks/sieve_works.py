# SPDX-License-Identifier: Apache-2.0
"""Sorts gravel by size as fast as it comes: each scoop is memory of C, which is sieved, weighed and given back."""
import ctypes
import random

import service

libc = ctypes.CDLL(None)
libc.malloc.restype = ctypes.c_void_p
libc.malloc.argtypes = [ctypes.c_size_t]
libc.free.argtypes = [ctypes.c_void_p]

LANES = 64
SCOOP_MOST = 30000


class Scoop:
    def __init__(self, size, grain):
        self.size = size
        self.start = libc.malloc(size)
        ctypes.memset(self.start, grain, size)

    def weight(self):
        return self.size * ctypes.string_at(self.start, 1)[0]

    def empty(self):
        libc.free(self.start)


class Sieve:
    """Lanes in which a scoop lies until the next one comes down the same."""

    def __init__(self):
        self.lanes = [None] * LANES
        self.weights = [0] * LANES

    def pour(self, lane, scoop):
        before = self.lanes[lane]
        self.lanes[lane] = scoop
        if before is not None:
            self.weights[lane] += before.weight()
            before.empty()


def main():
    rng = random.Random(30)
    sieve = Sieve()
    for number in service.rounds():
        for lane in range(LANES):
            sieve.pour(lane, Scoop(rng.randrange(600, SCOOP_MOST), number % 256))
    print("weight %d" % sum(sieve.weights))


if __name__ == "__main__":
    main()
