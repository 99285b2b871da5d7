# SPDX-License-Identifier: Apache-2.0
"""A dealer's postcards: cards come as lines with their tags as a list in brackets; what goes together is counted, prices are set."""

import ast
import json
import random
from collections import Counter, defaultdict
from itertools import combinations

from common import run

TAGS = """bridge harbour castle market tram lake alps spa church mill ferry square hotel station park tower pier dunes
fountain theatre bay gorge abbey museum""".split()
TOWNS = [first + last for first in ("Ober", "Nieder", "Alt", "Neu", "Bad ") for last in ("burg", "tal", "see", "furt", "hausen", "au")]


def lines(rnd, count):
    weights = [1 / (2 + at) for at in range(len(TAGS))]
    for number in range(count):
        tags = sorted(set(rnd.choices(TAGS, weights, k=rnd.randint(1, 6))))
        quoted = ", ".join('"%s"' % tag for tag in tags)
        yield "%06d|%s|%d|%s|[%s]" % (rnd.getrandbits(19), rnd.choice(TOWNS), rnd.randint(1895, 1938), rnd.choice("ABC"), quoted)


def tag_list(text):
    return ast.literal_eval(text)


def tag_list_fixed(text):
    return json.loads(text)


class Album:
    def __init__(self, tag_list):
        self.tag_list = tag_list
        self.cards = []
        self.tags = Counter()
        self.pairs = Counter()
        self.towns = defaultdict(Counter)

    def read(self, line):
        number, town, year, state, tags = line.split("|")
        card = {"number": number, "town": town, "year": int(year), "state": state, "tags": self.tag_list(tags)}
        self.cards.append(card)
        self.count(card)

    def count(self, card):
        tags = card["tags"]
        self.tags.update(tags)
        self.pairs.update(combinations(tags, 2))
        self.towns[card["town"]].update(tags)

    def rarity(self, card):
        """Mean rarity of the tags, more so in a town that has few such cards."""
        total = 0.0
        here = self.towns[card["town"]]
        for tag in card["tags"]:
            total += len(self.cards) / self.tags[tag] + 3.0 / here[tag]
        return total / len(card["tags"])

    def price(self, card):
        age = (1938 - card["year"]) / 43
        worth = 1.5 + 4 * age * age + 0.25 * self.rarity(card)
        return round(worth * {"A": 1.0, "B": 0.7, "C": 0.4}[card["state"]] * 20) / 20

    def odd_pairs(self):
        """Tags that go together much more often than chance has it."""
        total = len(self.cards)
        rows = []
        for (first, second), count in self.pairs.items():
            expected = self.tags[first] * self.tags[second] / total
            if count >= 5:
                rows.append((round(count / expected, 6), first, second))
        return sorted(rows, reverse=True)[:5]

    def labels(self):
        for card in sorted(self.cards, key=lambda card: (card["town"], card["year"], card["number"])):
            yield "%-14s %d  %-40s %7.2f" % (card["town"], card["year"], " ".join(card["tags"])[:40], self.price(card))


def one_pass(number, tag_list):
    album = Album(tag_list)
    for line in lines(random.Random(number), 900):
        album.read(line)
    labels = list(album.labels())
    return album.odd_pairs(), labels[0], labels[-1], sum(float(label[-7:]) for label in labels)


if __name__ == "__main__":
    run(one_pass, tag_list, tag_list_fixed)
