# SPDX-License-Identifier: Apache-2.0
"""Allocates at lines whose bytes it counts itself: temporaries and what is kept for a while, by malloc and by Python.

It goes on for so many seconds or, where that is 0, until there is a line on its input; then it says for each function how many
bytes and objects it has made, and how long it was at it, and waits for
the end of its input.
"""
import sys
import threading
import time

import support

# Of a bytes object, what is no content.
HEAD = sys.getsizeof(b"")
kept = [None] * 64
large = bytes(1 << 20)
made = {}


def blocks():
    """40 KB each, gone at once."""
    for _ in range(20):
        bytes(40000)
    return 20 * (40000 + HEAD), 20


def held():
    """10 KB each, of which 64 are there."""
    for i in range(64):
        kept[i] = bytes(10000)
    return 64 * (10000 + HEAD), 64


def small():
    """200 bytes each, by Python's own allocator, gone at once."""
    for _ in range(100):
        bytes(200 - HEAD)
    return 100 * 200, 100


def without():
    """Longer than the others take with probes: what is seen in a window then is about what the program does."""
    return 0 * large.count(b"x"), 0


def ended():
    if seconds:
        return time.monotonic() > end
    return over.is_set()


def wait():
    sys.stdin.readline()
    over.set()


support.ready()
seconds = float(sys.argv[1])
over = threading.Event()
if not seconds:
    threading.Thread(target=wait, daemon=True).start()
begin = time.monotonic()
end = begin + seconds
while not ended():
    for work in (blocks, held, small, without):
        size, count = work()
        sizes, counts = made.get(work.__name__, (0, 0))
        made[work.__name__] = sizes + size, counts + count
print("made", time.monotonic() - begin, *("%s=%d,%d" % ((name,) + figures) for name, figures in made.items()), flush=True)
sys.stdin.read()
support.finish("allocations", [] if all(len(piece) == 10000 for piece in kept if piece) else ["a block has changed"])
