# SPDX-License-Identifier: Apache-2.0
"""A jukebox's book of songs: the catalogue, kept by code, is set page by page with an index of the artists."""

import random
import textwrap
import zlib
from itertools import islice

from common import run

SONGS, PAGE = 12_000, 30
FIRST = "Red Blue Little Big Old New Lonesome Sweet Wild Silver Midnight Sunday Broken Golden".split()
SECOND = "Train River Heart Road Moon Rose Rain Town Fire Bird Letter Window Guitar Summer".split()


def make_catalogue(rng):
    """Songs by their code, in the order in which they are to stand in the book."""
    artists = ["The %s %ss" % (rng.choice(FIRST), rng.choice(SECOND)) for _ in range(150)]
    songs = {}
    for number in range(SONGS):
        code = "%s%04d" % ("ABCDEFGH"[number % 8], number)
        songs[code] = (number * 7 + rng.randrange(90), rng.randrange(120, 330))
    return artists, songs


def pages(songs):
    for start in range(0, len(songs), PAGE):
        yield list(islice(songs.items(), start, start + PAGE))


def pages_fixed(songs):
    items = iter(songs.items())
    for _ in range(0, len(songs), PAGE):
        yield list(islice(items, PAGE))


def title_of(key):
    return "%s %s" % (FIRST[key % len(FIRST)], SECOND[key // 3 % len(SECOND)])


def index_of(places):
    """Artists with their pages, neighbours drawn together."""
    for artist in sorted(places):
        parts = []
        for page in sorted(places[artist]):
            if parts and page == parts[-1][1] + 1:
                parts[-1][1] = page
            else:
                parts.append([page, page])
        text = ", ".join("%d" % a if a == b else "%d-%d" % (a, b) for a, b in parts)
        yield from textwrap.wrap("%s: %s" % (artist, text), 400, subsequent_indent="  ")


def set_book(artists, songs, pages_of):
    places, sums, seconds = {}, [], 0
    for page, content in enumerate(pages_of(songs), 1):
        lines = ["Page %d" % page]
        for code, (key, length) in content:
            artist = artists[key % len(artists)]
            if page % 4 == 0:
                places.setdefault(artist, set()).add(page)
            if length > 300:
                lines.append("%s  %-24.24s %-22.22s %d:%02d" % (code, title_of(key), artist, length // 60, length % 60))
            seconds += length
        sums.append(zlib.crc32("\n".join(lines).encode()))
    return places, sums, seconds


def one_pass(number, pages_of):
    artists, songs = make_catalogue(random.Random(number))
    places, sums, seconds = set_book(artists, songs, pages_of)
    index = list(index_of(places))
    return [len(sums), sums[-3:], seconds, len(index), index[:2]]


if __name__ == "__main__":
    run(one_pass, pages, pages_fixed)
