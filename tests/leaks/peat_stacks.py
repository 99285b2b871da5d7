# SPDX-License-Identifier: Apache-2.0
"""Dries peat: sods of all sizes are cut into memory of C, most are carted off by the evening, and a few stay in between."""
import collections
import ctypes
import random

import service

libc = ctypes.CDLL(None)
libc.malloc.restype = ctypes.c_void_p
libc.malloc.argtypes = [ctypes.c_size_t]
libc.free.argtypes = [ctypes.c_void_p]

CUT_A_DAY = 900
STAY_EACH = 45
DAYS = 30


class Bog:
    def __init__(self):
        self.staying = collections.deque()
        self.carted = 0

    def cut(self, size):
        sod = libc.malloc(size)
        ctypes.memset(sod, size % 256, size)
        return sod

    def cart(self, sod):
        self.carted += ctypes.string_at(sod, 1)[0]
        libc.free(sod)

    def day(self, rng):
        sods = [self.cut(rng.randrange(1200, 9000)) for _ in range(CUT_A_DAY)]
        stay = sods[::STAY_EACH]
        for number, sod in enumerate(sods):
            if number % STAY_EACH:
                self.cart(sod)
        self.staying.append(stay)
        if len(self.staying) > DAYS:
            for sod in self.staying.popleft():
                self.cart(sod)


def main():
    rng = random.Random(9)
    bog = Bog()
    for _ in service.rounds(per_second=5):
        bog.day(rng)
    print("carted %d" % bog.carted)


if __name__ == "__main__":
    main()
