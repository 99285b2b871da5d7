# SPDX-License-Identifier: Apache-2.0
"""A screen printer's separations: ink coverage of each band of a poster, packed for the machine that cuts the film."""

import zlib

import numpy as np

from common import run

INKS, HEIGHT, WIDTH = 4, 90, 220
BLANK = bytes(WIDTH)


def make_poster(seed):
    rng = np.random.default_rng(seed)
    y, x = np.mgrid[0:HEIGHT, 0:WIDTH]
    poster = np.zeros((INKS, HEIGHT, WIDTH))
    for ink in range(INKS):
        for _ in range(3):
            away = (y - rng.uniform(0, HEIGHT)) ** 2 + (x - rng.uniform(0, WIDTH)) ** 2
            poster[ink] += rng.uniform(20, 90) * np.exp(-away / rng.uniform(100, 1500))
    return np.clip(poster + rng.normal(0, 2, poster.shape), 0, 100).astype(np.uint8)


def band(poster, ink, line):
    return [int(poster[ink, line, x]) for x in range(WIDTH)]


def band_fixed(poster, ink, line):
    return poster[ink, line].tolist()


def diffuse(shades, carried):
    """Dots of one line; what is left of each shade goes to its neighbours."""
    dots = bytearray(len(shades))
    rest, below = 0.0, [0.0] * len(shades)
    for x, shade in enumerate(shades):
        wanted = shade + rest + carried[x]
        dots[x] = wanted > 50
        error = wanted - 100 * dots[x]
        rest, below[x] = 0.45 * error, 0.5 * error
    return dots, below


def runs(dots):
    """Lengths of what is alike, as the cutter takes them."""
    for part in bytes(dots).split(b"\x00"):
        if part:
            yield len(part)


def film(poster, ink, line_of):
    carried = [0.0] * WIDTH
    packer = zlib.compressobj(6)
    size = covered = 0
    longest = 0
    for line in range(HEIGHT):
        shades = line_of(poster, ink, line)
        if max(shades) < 16:
            size += len(packer.compress(BLANK))
            continue
        dots, carried = diffuse(shades, carried)
        lengths = list(runs(dots))
        covered += sum(lengths)
        longest = max(longest, max(lengths, default=0))
        size += len(packer.compress(bytes(dots)))
    return covered, longest, size + len(packer.flush())


def one_pass(number, line_of):
    poster = make_poster(number)
    films = [film(poster, ink, line_of) for ink in range(INKS)]
    heavy = poster.sum(axis=0, dtype=int) > 240
    return [films, int(heavy.sum())]


if __name__ == "__main__":
    run(one_pass, band, band_fixed)
