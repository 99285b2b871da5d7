# SPDX-License-Identifier: Apache-2.0
"""Takes apart the telegrams of heat meters: fields of many kinds and lengths, nested in groups."""

import random
import struct
from collections import Counter

from common import run

HEAD = struct.Struct(">BH")
WHOLE = struct.Struct(">q")
REAL = struct.Struct(">d")


def field(rnd, deep):
    kind = rnd.choice((1, 2, 3, 4) if deep < 4 else (1, 2, 3))
    if kind == 1:
        body = WHOLE.pack(rnd.randrange(-(10**12), 10**12))
    elif kind == 2:
        body = REAL.pack(rnd.uniform(-1e4, 1e4))
    elif kind == 3:
        body = rnd.randbytes(rnd.randint(1, 40)).hex().encode()
    else:
        body = b"".join(field(rnd, deep + 1) for _ in range(rnd.randint(1, 5)))
    return HEAD.pack(kind, len(body)) + body


class Reader:
    def __init__(self, data):
        self.data = data
        self.kinds = Counter()
        self.deepest = 0

    def fields(self, at, end, deep=1):
        self.deepest = max(self.deepest, deep)
        found = []
        while at < end:
            kind, size = HEAD.unpack_from(self.data, at)
            at += HEAD.size
            self.kinds[kind] += 1
            if kind == 1:
                found.append(WHOLE.unpack_from(self.data, at)[0])
            elif kind == 2:
                found.append(REAL.unpack_from(self.data, at)[0])
            elif kind == 3:
                found.append(self.data[at : at + size].decode("ascii"))
            else:
                found.append(self.fields(at, at + size, deep + 1))
            at += size
        return found


def total(tree):
    if isinstance(tree, list):
        return sum(map(total, tree))
    return len(tree) if isinstance(tree, str) else tree


def one_pass(number, step):
    rnd = random.Random(number)
    sums, kinds, deepest = [], Counter(), 0
    for _ in range(260):
        data = b"".join(field(rnd, 0) for _ in range(12))
        reader = Reader(data)
        sums.append(float(total(reader.fields(0, len(data)))))
        kinds.update(reader.kinds)
        deepest = max(deepest, reader.deepest)
    return sums[-2:], sorted(kinds.items()), deepest


if __name__ == "__main__":
    run(one_pass)
