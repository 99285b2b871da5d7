# SPDX-License-Identifier: Apache-2.0
"""A network of beacons elects its speaker: who first finds a number whose digest begins with enough zeros."""

import hashlib
import random
import struct

from common import run


class Beacon:
    def __init__(self, name):
        self.name = name
        self.wins = 0

    def solve(self, header, limit, start):
        nonce = start
        while True:
            struct.pack_into("<Q", header, 40, nonce)
            digest = hashlib.sha256(header).digest()
            if digest < limit:
                return nonce, digest
            nonce += 1


def one_pass(number, step):
    rnd = random.Random(number)
    beacons = [Beacon(f"b{at}") for at in range(5)]
    limit = bytes([0, 20]) + bytes(30)
    last = rnd.randbytes(32)
    rounds = []
    for height in range(8):
        tries = []
        for beacon in beacons:
            header = bytearray(struct.pack("<32sII", last, height, rnd.randrange(2**32)) + bytes(8))
            nonce, digest = beacon.solve(header, limit, 0)
            tries.append((nonce, digest, beacon))
        nonce, last, winner = min(tries, key=lambda entry: entry[0])
        winner.wins += 1
        rounds.append((nonce, last.hex()))
    return rounds[-1], [beacon.wins for beacon in beacons]


if __name__ == "__main__":
    run(one_pass)
