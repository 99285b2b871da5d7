# SPDX-License-Identifier: Apache-2.0
"""Backs up an inbox of scans: splits each day's files where their content says so, keeps each piece once."""

import hashlib
import random
import zlib

from common import run

MASK, LEAST, MOST = 0x3F, 64, 1024


class Store:
    def __init__(self):
        self.pieces = {}
        self.written = 0

    def put(self, piece):
        name = hashlib.sha256(piece).digest()
        if name not in self.pieces:
            self.pieces[name] = zlib.compress(piece, 1)
            self.written += len(self.pieces[name])
        return name

    def get(self, name):
        return zlib.decompress(self.pieces[name])


def cuts(data, gear):
    """A rolling hash over the bytes: a piece ends where its low bits are all zero."""
    start = value = 0
    for at, byte in enumerate(data):
        value = (value * 2 + gear[byte]) & 0xFFFFFFFF
        length = at - start + 1
        if (length >= LEAST and not value & MASK) or length == MOST:
            yield data[start : at + 1]
            start, value = at + 1, 0
    if start < len(data):
        yield data[start:]


class Inbox:
    def __init__(self, rng, files):
        self.rng = rng
        self.files = {"f%02d" % k: bytearray(rng.randbytes(rng.randint(1_500, 6_000))) for k in range(files)}

    def next_day(self):
        """Other letters come in, some with a short form that another one of the day has as well."""
        rng = self.rng
        form = rng.randbytes(300)
        for data in self.files.values():
            data[:] = rng.randbytes(rng.randint(1_500, 6_000))
            if rng.random() < 0.3:
                data.extend(form)


def snapshot(inbox, store, recipes, gear):
    root = hashlib.sha256()
    for name in sorted(inbox.files):
        data = bytes(inbox.files[name])
        names = [store.put(piece) for piece in cuts(data, gear)]
        recipes[name] = names
        root.update(name.encode() + b"".join(names))
    return root.hexdigest()


def restored(store, names):
    return b"".join(map(store.get, names))


def one_pass(number, step):
    rng = random.Random(number)
    gear = [rng.getrandbits(32) for _ in range(256)]
    inbox, store, recipes = Inbox(rng, 8), Store(), {}
    roots = []
    for _ in range(4):
        roots.append(snapshot(inbox, store, recipes, gear))
        inbox.next_day()
    roots.append(snapshot(inbox, store, recipes, gear))
    whole = [restored(store, recipes[name]) == bytes(data) for name, data in inbox.files.items()]
    return roots, store.written, len(store.pieces), all(whole)


if __name__ == "__main__":
    run(one_pass)
