# SPDX-License-Identifier: Apache-2.0
"""A library's vault of scanned manuscripts: two threads cut the files into pieces, pack them and write a sealed list."""

import hashlib
import queue
import random
import threading
import zlib

from runner import run

FILES = 12
PIECE = 4096
WORDS = [b"item", b"anno", b"domini", b"regis", b"quod", b"terra", b"villa", b"de", b"et", b"in", b"pro", b"cum"]


def manuscript(rnd):
    """A page's text between stretches of picture."""
    parts = []
    for _ in range(rnd.randrange(5, 9)):
        parts.append(b" ".join(rnd.choices(WORDS, k=350)))
        parts.append(rnd.randbytes(rnd.randrange(500, 2000)))
    return b"\n".join(parts)


class Vault:
    def __init__(self):
        self.lock = threading.Lock()
        self.places = {}
        self.used = 0

    def put(self, digest, data):
        with self.lock:
            self.places[digest] = self.used, len(data)
            self.used += len(data)


class Packer(threading.Thread):
    """Takes files off the table until there is none left."""

    def __init__(self, table, vault, lists):
        super().__init__()
        self.table = table
        self.vault = vault
        self.lists = lists

    def pieces(self, data):
        view = memoryview(data)
        for start in range(0, len(data), PIECE):
            yield view[start : start + PIECE]

    def pack(self, name, data):
        seal = hashlib.sha256()
        entries = []
        before = None
        for piece in self.pieces(data):
            packer = zlib.compressobj(5, zdict=before) if before is not None else zlib.compressobj(5)
            packed = packer.compress(piece) + packer.flush()
            digest = hashlib.blake2b(piece, digest_size=16).hexdigest()
            self.vault.put(digest, packed)
            seal.update(piece)
            entries.append((digest, len(piece), len(packed)))
            before = piece
        return name, seal.hexdigest(), entries

    def run(self):
        while True:
            try:
                name, data = self.table.get_nowait()
            except queue.Empty:
                return
            self.lists.put(self.pack(name, data))


def one_pass(number, step):
    rnd = random.Random(number)
    table, lists = queue.Queue(), queue.Queue()
    for file in range(FILES):
        table.put(("folio %02d" % file, manuscript(rnd)))
    vault = Vault()
    packers = [Packer(table, vault, lists) for _ in range(2)]
    for packer in packers:
        packer.start()
    for packer in packers:
        packer.join()
    written = sorted(lists.get() for _ in range(FILES))
    index = hashlib.sha256()
    for name, seal, entries in written:
        index.update(name.encode() + seal.encode())
        for digest, _, _ in entries:
            index.update(digest.encode())
    return vault.used, len(vault.places), index.hexdigest()


if __name__ == "__main__":
    run(one_pass)
