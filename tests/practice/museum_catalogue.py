# SPDX-License-Identifier: Apache-2.0
"""Builds the pages of a museum's collection: addresses, lists by artist and by room, and a feed."""

import functools
import html
import random
import re
import unicodedata
from collections import defaultdict

from common import run

LETTERS = "aeiou\u00e1\u00e9\u00f6\u00fc\u0159\u0161\u010d\u017elnrstkmp"
NOT_WORD = re.compile(r"[^a-z0-9]+")


def name_from(rnd):
    return " ".join("".join(rnd.choices(LETTERS, k=rnd.randint(4, 9))).capitalize() for _ in range(3))


def slug(name):
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()
    return NOT_WORD.sub("-", plain.lower()).strip("-")


class Site:
    def __init__(self, slug):
        self.slug = slug
        self.by_artist = defaultdict(list)
        self.by_room = defaultdict(list)

    def link(self, kind, name, shown):
        return f'<a href="/{kind}/{self.slug(name)}">{html.escape(shown)}</a>'

    def add(self, work):
        self.by_artist[work["artist"]].append(work)
        self.by_room[work["room"]].append(work)

    def page(self, work):
        maker = self.link("artist", work["artist"], f"see {work['number']}'s maker")
        return f"<h1>{html.escape(work['title'])}</h1><p>{maker}, {work['year']}, {self.link('room', work['room'], work['place'])}</p>"

    def feed(self, works):
        newest = sorted(works, key=lambda work: (work["year"], work["number"]), reverse=True)
        return [f"{work['year']} /{self.slug(work['artist'])}/{work['number']}" for work in newest]

    def lists(self):
        for room, works in sorted(self.by_room.items()):
            rows = [f"<li>{self.link('artist', work['artist'], work['title'])} {work['year']}</li>" for work in works]
            yield f"<ul id={self.slug(room)}>{''.join(rows)}</ul>"


def one_pass(number, step):
    rnd = random.Random(number)
    site = Site(step())
    artists = [name_from(rnd) for _ in range(14)]
    rooms = [name_from(rnd) for _ in range(6)]
    works = []
    for at in range(1_400):
        title = f"{rnd.choice(('Still life', 'View', 'Portrait'))} no. {at} & <{rnd.randrange(10**6)}>"
        works.append({"number": at, "title": title, "artist": rnd.choice(artists), "room": rnd.choice(rooms), "year": rnd.randint(1780, 1990), "place": f"wall {at % 37}, {at} mm"})
        site.add(works[-1])
    pages = [site.page(work) for work in works]
    lists = list(site.lists())
    feed = site.feed(works)
    return len("".join(pages)), len("".join(lists)), feed[0], pages[-1]


def as_it_is():
    return slug


def kept():
    return functools.lru_cache(maxsize=256)(slug)


if __name__ == "__main__":
    run(one_pass, as_it_is, kept)
