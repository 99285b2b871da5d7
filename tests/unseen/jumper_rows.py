# SPDX-License-Identifier: Apache-2.0
"""Knits jumpers from their written rows: what hangs on the needle, the chart and the yarn it takes."""

import random
import re
import zlib
from collections import namedtuple
from functools import lru_cache

from runner import run

PART = re.compile(r"([a-z]+?)(\d*)(?:,|$)")
TAKES = {"k": 1, "p": 1, "sl": 1, "yo": 0, "ktog": 2, "ptog": 2, "ssk": 2, "kfb": 1}
TURNED = {"k": "p", "p": "k", "ktog": "ptog", "ptog": "ktog"}
MILLIMETRES = {"k": 11.0, "p": 11.6, "sl": 0.0, "yo": 7.4, "ktog": 11.8, "ptog": 12.5, "ssk": 12.1, "kfb": 19.0}
SYMBOL = {"k": " ", "p": "-", "sl": "v", "yo": "o", "ktog": "/", "ptog": "/", "ssk": "\\", "kfb": "Y"}
Row = namedtuple("Row", "stitches chart millimetres")


def spelled(words):
    for stitch, times in PART.findall(words):
        yield from [stitch] * int(times or 1)


def worked(text, width, turned):
    """A row such as "sl,k2[yo,ssk,p3]k2,sl" over so many loops: its single stitches, chart and yarn."""
    before, motif, after = (list(spelled(words)) for words in re.split(r"[\[\]]", text))
    room = width - sum(TAKES[stitch] for stitch in before + after)
    stitches = before
    once = sum(TAKES[stitch] for stitch in motif)
    while room >= once:
        for stitch in motif:
            stitches.append(stitch)
            room -= TAKES[stitch]
    stitches += ["k"] * room
    stitches += after
    if turned:
        stitches = [TURNED.get(stitch, stitch) for stitch in stitches]
    chart = "".join([SYMBOL[stitch] for stitch in stitches])
    return Row(tuple(stitches), chart, sum([MILLIMETRES[stitch] for stitch in stitches]))


def knitted(pattern, cast_on, rows, read):
    """Row by row: the stitches and the heights of the loops, which every row makes anew."""
    needle = [0.0] * cast_on
    for row in range(rows):
        text = pattern[row % len(pattern)]
        done = read(text, len(needle), row % 2 == 1)
        loops = iter(needle)
        raised = []
        for stitch in done.stitches:
            if stitch == "yo":
                raised.append(row + 0.5)
                continue
            height = next(loops)
            if TAKES[stitch] == 2:
                height = max(height, next(loops, height))
            raised.append(height if stitch == "sl" else 0.2 * height + 0.8 * (row + 1))
            if stitch == "kfb":
                raised.append(row + 0.7)
        needle = raised
        yield done, needle


def motif(rng):
    words = [rng.choice("kp") + str(rng.randint(1, 5)) for _ in range(rng.randint(2, 4))]
    for less in rng.choice([(), ("ktog",), ("ssk",), ("ktog", "ssk")]):
        words.insert(rng.randint(0, len(words)), less)
        words.insert(rng.randint(0, len(words)), "yo")
    return ",".join(words)


def jumper(rng):
    """Four pieces: their pattern of a few rows, the loops cast on, and the rows."""
    edge = rng.choice(["sl,k2", "k3", "sl,p,k"])
    pattern = ["%s[%s]k2,sl" % (edge, motif(rng)) for _ in range(2 * rng.randint(3, 5))]
    widths = rng.sample(range(90, 130), 3)
    for width in widths:
        yield pattern, width, rng.randint(180, 210)
    yield pattern + ["k,kfb[k]kfb,k", "p[p]p"] * 2, 48, 100


def one_pass(number, read):
    rng = random.Random(number)
    pieces = []
    for pattern, cast_on, rows in jumper(rng):
        yarn, tallest, seal = 0.0, 0.0, 0
        loose = rng.uniform(0.9, 1.1)
        for done, needle in knitted(pattern, cast_on, rows, read):
            yarn += loose * rng.gauss(1.0, 0.02) * done.millimetres
            tallest = max(tallest, max(needle) - min(needle))
            seal = zlib.crc32(done.chart.encode(), seal)
        pieces.append((yarn, tallest, seal, len(needle)))
    return pieces


if __name__ == "__main__":
    run(one_pass, worked, lru_cache(maxsize=512)(worked))
