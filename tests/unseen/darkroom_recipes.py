# SPDX-License-Identifier: Apache-2.0
"""A darkroom's cache of prints: a scan is developed only if no print of it by the same recipe is there."""

import dataclasses
import hashlib
import json
import random
import zlib

from runner import run

SCANS = 130
BYTES = 3000


@dataclasses.dataclass
class Scan:
    name: str
    data: bytes


def recipe(rnd):
    """How a roll is to be developed, as the user's form gives it."""
    return {
        "film": rnd.choice(["panchromatic", "orthochromatic", "infrared"]),
        "speed": rnd.choice([50, 100, 125, 400]),
        "bath": {
            "name": "stock %d" % rnd.randrange(90),
            "degrees": 18 + rnd.randrange(60) / 10,
            "dilution": "1+%d" % rnd.randrange(1, 50),
        },
        "curve": [[step / 10, round(min(1, (step / 10) ** rnd.uniform(0.7, 1.3)), 4)] for step in range(11)],
        "dodge": [{"x": rnd.randrange(4000), "y": rnd.randrange(3000), "stops": round(rnd.random(), 2)} for _ in range(4)],
        "paper": {"grade": rnd.randrange(6), "gloss": rnd.random() < 0.5},
    }


def keyed(scans, recipe):
    """Each scan with the name of its print in the cache."""
    for scan in scans:
        how = json.dumps(recipe, sort_keys=True).encode()
        yield hashlib.sha256(how + scan.data).hexdigest(), scan


def keyed_fixed(scans, recipe):
    how = json.dumps(recipe, sort_keys=True).encode()
    for scan in scans:
        yield hashlib.sha256(how + scan.data).hexdigest(), scan


class Cache:
    def __init__(self):
        self.prints = {}
        self.hits = 0

    def keep(self, key, make):
        if key in self.prints:
            self.hits += 1
        else:
            self.prints[key] = make()
        return self.prints[key]


def develop(scan, tones):
    return zlib.compress(scan.data.translate(tones), 1)


def tone_table(curve):
    """The curve's points as a table of 256 tones."""
    tones = bytearray()
    for value in range(256):
        place = value / 255 * 10
        low = min(int(place), 9)
        (_, below), (_, above) = curve[low], curve[low + 1]
        tones.append(int(255 * (below + (above - below) * (place - low))))
    return bytes(tones)


def scans(rnd):
    """A roll; some frames are scanned a second time."""
    roll = []
    for frame in range(SCANS):
        if roll and rnd.random() < 0.25:
            data = rnd.choice(roll).data
        else:
            data = rnd.randbytes(BYTES // 20) * 20
        roll.append(Scan("frame %03d" % frame, data))
    return roll


def one_pass(number, step):
    rnd = random.Random(number)
    how = recipe(rnd)
    tones = tone_table(how["curve"])
    cache = Cache()
    sizes = {scan.name: len(cache.keep(key, lambda: develop(scan, tones))) for key, scan in step(scans(rnd), how)}
    return cache.hits, sum(sizes.values()), sorted(cache.prints)[:2]


if __name__ == "__main__":
    run(one_pass, keyed, keyed_fixed)
