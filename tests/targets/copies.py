# SPDX-License-Identifier: Apache-2.0
"""Copies memory at one line after another, each in its turn, and says how many bytes each has copied.

The lines: the same 4 KB and 64 KB again and again, 64 KB pieces of what no cache holds, 32 MB at
once into memory that is there, 8 MB into memory that is new each time, and a text that grows by
being made anew. One more works without copies. It goes on for so many seconds, or until the end of its input.
"""
import sys
import time

import support

KIB, MIB = 1 << 10, 1 << 20

source = bytearray(64 * MIB)
into = memoryview(bytearray(32 * MIB))
piece = memoryview(into)[:64 * KIB]
whole = memoryview(source)
small, small_into = whole[:4 * KIB], into[:4 * KIB]
middle = whole[:64 * KIB]
half, block = whole[:32 * MIB], whole[:8 * MIB]
copied = {}


def again():
    for _ in range(4000):
        small_into[:] = small
    return 4000 * len(small)


def same_piece():
    for _ in range(2000):
        piece[:] = middle
    return 2000 * len(middle)


def walked():
    for start in range(0, len(source), 64 * KIB):
        piece[:] = whole[start:start + 64 * KIB]
    return len(source)


def at_once():
    into[:] = half
    return len(half)


def anew():
    bytes(block)
    return len(block)


def grown():
    text, bytes_copied = b"", 0
    while len(text) < 256 * KIB:
        bytes_copied += len(text)
        text = text + b"0123456789abcdef" * 16
    return bytes_copied


def without():
    return 0 * sum(i * i for i in range(20000))


support.ready()
end = time.monotonic() + float(sys.argv[1])
while time.monotonic() < end:
    for work in (again, same_piece, walked, at_once, anew, grown, without):
        copied[work.__name__] = copied.get(work.__name__, 0) + work()
print("copied", *("%s=%d" % item for item in copied.items()), flush=True)
sys.stdin.read()
support.finish("copies", [] if bytes(piece) == bytes(middle) else ["what was copied differs"])
