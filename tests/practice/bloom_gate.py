# SPDX-License-Identifier: Apache-2.0
"""Keeps events that come twice out of a pipeline: two Bloom filters take turns by age, and what is new is counted by tenant."""

import numpy as np
from common import run

WORDS = 1 << 13
ODD = np.array([0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0x27D4EB2F165667C5], np.uint64)[:, None]
ONE, HALF, HIGH, LOW, TENANTS = map(np.uint64, (1, 32, 58, WORDS - 1, 50))


class Bloom:
    def __init__(self):
        self.bits = np.zeros(WORDS, np.uint64)
        self.held = 0

    def wipe(self):
        self.bits.fill(0)
        self.held = 0

    def has(self, word, mask):
        return ((self.bits[word] & mask) == mask).all(axis=0)

    def add(self, word, mask):
        np.bitwise_or.at(self.bits, word.ravel(), mask.ravel())
        self.held += word.shape[1]


class Gate:
    """The younger filter takes what is new; when it is full the older one is wiped and becomes the younger."""

    def __init__(self, most):
        self.young, self.old = Bloom(), Bloom()
        self.most = most
        self.turns = 0

    def places(self, ids):
        mixed = (ids ^ (ids >> HALF)) * ODD
        mixed ^= mixed >> HALF
        word = (mixed & LOW).astype(np.intp)
        mask = ONE << (mixed >> HIGH)
        return word, mask

    def admit(self, ids):
        _, first = np.unique(ids, return_index=True)
        word, mask = self.places(ids)
        fresh = np.zeros(len(ids), bool)
        fresh[first] = True
        fresh &= ~(self.young.has(word, mask) | self.old.has(word, mask))
        if self.young.held + np.count_nonzero(fresh) > self.most:
            self.young, self.old = self.old, self.young
            self.young.wipe()
            self.turns += 1
        self.young.add(word[:, fresh], mask[:, fresh])
        return fresh


class Rates:
    """Events a tenant in each of the last sixty slots, in one array that is written round and round."""

    def __init__(self):
        self.slots = np.zeros((60, int(TENANTS)), np.int64)
        self.sums = np.zeros(int(TENANTS), np.int64)
        self.at = 0
        self.peaks = np.zeros(int(TENANTS), np.int64)

    def take(self, tenants):
        slot = self.slots[self.at]
        self.sums -= slot
        slot[:] = np.bincount(tenants, minlength=len(slot))
        self.sums += slot
        np.maximum(self.peaks, self.sums, out=self.peaks)
        self.at = (self.at + 1) % len(self.slots)


def batches(rng, many):
    """Events, some of which come again in one of the next batches."""
    again = np.empty(0, np.uint64)
    for _ in range(many):
        new = rng.integers(1, 1 << 63, int(rng.integers(200, 600)), dtype=np.uint64)
        ids = np.concatenate((new, again))
        rng.shuffle(ids)
        yield ids
        again = rng.choice(ids, len(ids) // 8)


def one_pass(number, _):
    rng = np.random.default_rng(number)
    gate, rates = Gate(15_000), Rates()
    admitted = dropped = 0
    check = np.uint64(0)
    for ids in batches(rng, 150):
        new = ids[gate.admit(ids)]
        rates.take((new % TENANTS).astype(np.intp))
        admitted += len(new)
        dropped += len(ids) - len(new)
        check ^= np.bitwise_xor.reduce(new)
    return admitted, dropped, gate.turns, int(check), rates.peaks.tolist()


if __name__ == "__main__":
    run(one_pass)
