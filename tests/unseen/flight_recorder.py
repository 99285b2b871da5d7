# SPDX-License-Identifier: Apache-2.0
"""Analysts look at each leg that a glider's recorder packed away."""

import asyncio
import bz2
import math
import random
import struct

from runner import run

FIX = struct.Struct("<fffH")


def record(rng, seconds):
    """Four fixes a second, as the recorder packs them."""
    height, speed, heading = rng.uniform(600, 900), 28.0, rng.uniform(0, 360)
    packed = bytearray()
    for second in range(seconds):
        lift = 3 * math.sin(second / 60) + rng.uniform(-1.6, 0)
        turn = 8 if lift > 1 else rng.uniform(-1, 1)
        speed += 0.1 * (28 - speed) + rng.uniform(-0.3, 0.3)
        for quarter in range(4):
            at = quarter / 4
            packed += FIX.pack(round(height + at * lift), round(speed), round(heading + at * turn), second)
        height = max(height + lift, 100.0)
        heading = (heading + turn) % 360
    return bz2.compress(packed)


class Leg:
    def __init__(self, blob):
        self.blob = blob

    async def fixes(self):
        return list(FIX.iter_unpack(bz2.decompress(self.blob)))


class OpenLeg(Leg):
    def __init__(self, blob):
        super().__init__(blob)
        self.rows = list(FIX.iter_unpack(bz2.decompress(blob)))

    async def fixes(self):
        return self.rows


async def thermals(leg):
    gained, low = [], None
    last = math.inf
    for height, _, _, _ in await leg.fixes():
        if height > last and low is None:
            low = last
        elif height < last - 2 and low is not None:
            gained.append(last - low)
            low = None
        last = height
    return [round(gain) for gain in gained if gain > 20]


async def glide(leg):
    rows = await leg.fixes()
    sunk = sum(max(a[0] - b[0], 0) for a, b in zip(rows, rows[1:]))
    flown = sum(speed for _, speed, _, _ in rows)
    return flown / 4 / max(sunk, 1)


async def ground(leg):
    x = y = 0.0
    for _, speed, heading, _ in await leg.fixes():
        way = math.radians(heading)
        x += speed / 4 * math.sin(way)
        y += speed / 4 * math.cos(way)
    return math.hypot(x, y)


async def stalls(leg):
    speeds = [speed for _, speed, _, _ in await leg.fixes()]
    return sum(now < 27 <= before for before, now in zip(speeds, speeds[1:]))


async def ceiling(leg):
    height, _, _, second = max(await leg.fixes())
    return height, second


async def debrief(legs):
    analysts = thermals, glide, ground, stalls, ceiling
    return [await asyncio.gather(*(analyst(leg) for analyst in analysts)) for leg in legs]


def one_pass(number, kind):
    rng = random.Random(number)
    blobs = [record(rng, 450) for _ in range(18)]
    found = asyncio.run(debrief([kind(blob) for blob in blobs]))
    return [(len(gains), sum(gains), *rest) for gains, *rest in found]


if __name__ == "__main__":
    run(one_pass, Leg, OpenLeg)
