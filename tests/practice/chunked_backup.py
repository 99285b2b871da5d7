# SPDX-License-Identifier: Apache-2.0
"""Backs files up: read in chunks, digest, deflate, and verify by reading back."""

import hashlib
import io
import random
import struct
import zlib

from common import run

CHUNK = 4096
HEADER = struct.Struct("<4sIQ32s")


def make_file(rng, lines):
    words = ["%x" % rng.getrandbits(28) for _ in range(300)]
    text = (" ".join(rng.choices(words, k=9)) for _ in range(lines))
    return io.BytesIO("\n".join(text).encode())


def store(source, archive):
    digest = hashlib.sha256()
    squeeze = zlib.compressobj(3)
    start = archive.tell()
    archive.write(b"\0" * HEADER.size)
    size = 0
    while True:
        chunk = source.read(CHUNK)
        if not chunk:
            break
        size += len(chunk)
        digest.update(chunk)
        archive.write(squeeze.compress(chunk))
    archive.write(squeeze.flush())
    end = archive.tell()
    archive.seek(start)
    archive.write(HEADER.pack(b"BKUP", end - start - HEADER.size, size, digest.digest()))
    archive.seek(end)
    return end - start


def verify(archive):
    mark, packed, size, expect = HEADER.unpack(archive.read(HEADER.size))
    digest = hashlib.sha256()
    inflate = zlib.decompressobj()
    seen = 0
    while packed:
        piece = archive.read(min(CHUNK, packed))
        packed -= len(piece)
        plain = inflate.decompress(piece)
        seen += len(plain)
        digest.update(plain)
    tail = inflate.flush()
    digest.update(tail)
    return mark == b"BKUP" and seen + len(tail) == size and digest.digest() == expect


def one_pass(number, _):
    rng = random.Random(number)
    archive = io.BytesIO()
    stored = [store(make_file(rng, rng.randrange(800, 3000)), archive) for _ in range(16)]
    archive.seek(0)
    good = sum(verify(archive) for _ in stored)
    return stored, good


if __name__ == "__main__":
    run(one_pass)
