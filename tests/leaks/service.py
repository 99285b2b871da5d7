# SPDX-License-Identifier: Apache-2.0
"""The clock that every program of this folder runs by: so many rounds a second until --seconds are over.

The first round is preceded by a line `ready`. A program whose resident memory grows by 400 MB ends: torch alone may have
as much before it does anything.
"""
import argparse
import asyncio
import time

GROWTH_MB = 400
PAGE_KB = 4


class Clock:
    def __init__(self, per_second):
        parser = argparse.ArgumentParser()
        parser.add_argument("--seconds", type=float, default=60.0)
        self.seconds = parser.parse_args().seconds
        self.per_second = per_second
        self.start = time.monotonic()
        self.looked = self.start
        self.number = 0
        self.begun_mb = resident_mb()
        print("ready", flush=True)

    def over(self):
        now = time.monotonic()
        if now - self.looked >= 1:
            self.looked = now
            if resident_mb() - self.begun_mb > GROWTH_MB:
                print("%d MB more" % GROWTH_MB, flush=True)
                return True
        return now - self.start >= self.seconds

    def pause(self):
        """Seconds until the next round is due."""
        self.number += 1
        if self.per_second is None:
            return 0
        return max(0.0, self.start + self.number / self.per_second - time.monotonic())


def resident_mb():
    with open("/proc/self/statm") as statm:
        return int(statm.read().split()[1]) * PAGE_KB // 1024


def rounds(per_second=None):
    """Numbers from 0, one a round; without a pace one as soon as the other is done."""
    clock = Clock(per_second)
    while not clock.over():
        yield clock.number
        pause = clock.pause()
        if pause:
            time.sleep(pause)
    print("rounds %d" % clock.number, flush=True)


async def async_rounds(per_second):
    """The same in an event loop."""
    clock = Clock(per_second)
    while not clock.over():
        yield clock.number
        await asyncio.sleep(clock.pause())
    print("rounds %d" % clock.number, flush=True)
