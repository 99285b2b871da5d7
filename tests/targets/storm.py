#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Watched memory touched as often as can be (the extension storm.c); every pass checks its result.

    storm.py --folder WHERE-storm.so-IS --kind KIND [--seconds N] [--threads N]
"""
import argparse
import sys
import threading
import time

from support import finish, ready


def expected_sum(word):
    """What read_all(1) gives when every word is the same."""
    total = 0
    for _ in range(2048):
        total = (total * 31 + word) & (1 << 64) - 1
    return total


class Storm:
    def __init__(self, extension):
        self.extension = extension
        self.filled = [expected_sum(byte * 0x0101010101010101) for byte in range(2)]
        self.items = list(range(64))

    def word(self):
        """A tight loop on one word: loads and stores of it, then stores alone to words that were loaded."""
        before = self.extension.add_word(1)
        after = self.extension.add_word(20000)
        self.extension.read_all(4)
        return after == before + 20000 and self.extension.store_word(20000) == 0

    def movs(self):
        self.extension.read_all(4)
        return self.extension.copy_all(30) in (0, 29)

    def page(self):
        self.extension.read_all(4)
        self.extension.fill_all(30)
        return self.extension.read_all(1) == self.filled[0]

    def deeper(self, n):
        return self.extension.call_back(self.deeper, n)

    def recursion(self):
        return self.deeper(60) == self.deeper(30)

    def interpreter(self):
        """The interpreter itself reads and writes what a native call touched."""
        total = 0
        items = self.items
        items.reverse()
        for _ in range(20000):
            total += items[0]
            items[0] = items[63]
            items[63] = items[0]
        items[:] = range(64)
        return 0 < total

    def same_line(self):
        """All threads on this line and this word; what they add up to is anybody's guess."""
        return self.extension.add_word(20000) > 0 and self.extension.read_all(1) > 0


def work(one_pass, end, problems):
    while time.monotonic() < end:
        if not one_pass():
            problems.append("a pass gave another result")
            return


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    kinds = ("word", "movs", "page", "recursion", "interpreter", "same_line")
    parser.add_argument("--folder", required=True)
    parser.add_argument("--kind", choices=kinds, default="word")
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--threads", type=int, default=1)
    arguments = parser.parse_args()
    sys.path.insert(0, arguments.folder)
    import storm

    one_pass = getattr(Storm(storm), arguments.kind)
    problems = []
    ready()
    end = time.monotonic() + arguments.seconds
    workers = [threading.Thread(target=work, args=(one_pass, end, problems)) for _ in range(1, arguments.threads)]
    for worker in workers:
        worker.start()
    work(one_pass, end, problems)
    for worker in workers:
        worker.join()
    finish("storm", problems, arguments.kind)


if __name__ == "__main__":
    main()
