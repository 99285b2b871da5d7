# SPDX-License-Identifier: Apache-2.0
"""Sorts seeds by their pictures: generators read, measure and grade them, with a bounded queue to the packing thread."""
import queue
import random
import threading

import service

WAITING = 64
GRADES = ("sow", "feed", "oil")


def pictures(rng, count):
    """Outlines of seeds: a radius for every angle."""
    for _ in range(count):
        size = rng.uniform(2.0, 9.0)
        yield [size * rng.uniform(0.8, 1.2) for _ in range(360)]


def measured(outlines):
    for outline in outlines:
        mean = sum(outline) / len(outline)
        rough = sum(abs(radius - mean) for radius in outline) / len(outline)
        yield outline, mean, rough


def graded(measures):
    for outline, mean, rough in measures:
        grade = "sow" if mean > 5.0 and rough < 0.6 else "feed" if mean > 3.5 else "oil"
        yield grade, outline


class Packer(threading.Thread):
    def __init__(self, waiting):
        super().__init__(name="packer")
        self.waiting = waiting
        self.packed = dict.fromkeys(GRADES, 0)
        self.largest = 0.0

    def run(self):
        while True:
            entry = self.waiting.get()
            if entry is None:
                return
            grade, outline = entry
            self.packed[grade] += 1
            self.largest = max(self.largest, max(outline))


def main():
    rng = random.Random(127)
    waiting = queue.Queue(maxsize=WAITING)
    packer = Packer(waiting)
    packer.start()
    for _ in service.rounds(per_second=20):
        for entry in graded(measured(pictures(rng, 40))):
            waiting.put(entry)
    waiting.put(None)
    packer.join()
    print("packed %s, largest %.2f" % (packer.packed, packer.largest))


if __name__ == "__main__":
    main()
