# SPDX-License-Identifier: Apache-2.0
"""The season of an angling club: every member's card of each match, and the order of the table at its end."""

import random
from collections import defaultdict, namedtuple

from runner import run

MEMBERS = 24
MATCHES = 5
POINTS = {"bream": 3, "roach": 2, "perch": 2, "pike": 9, "gudgeon": 1, "tench": 5}

Catch = namedtuple("Catch", "member peg fish grams minute")


def match_day(seed, match):
    rnd = random.Random(1000 * seed + match)
    fish = list(POINTS)
    pegs = rnd.sample(range(1, 80), MEMBERS)
    for _ in range(MEMBERS * 20):
        member = rnd.randrange(MEMBERS)
        yield Catch(member, pegs[member], rnd.choice(fish), int(rnd.expovariate(1 / 380)) + 15, rnd.randrange(300))


def longest_wait(catches):
    waited, last = 0, 0
    for minute in sorted(catch.minute for catch in catches):
        waited = max(waited, minute - last)
        last = minute
    return max(waited, 300 - last)


def card(member, catches):
    Card = namedtuple("Card", ["member", "peg", "grams", "points", "best", "waited"])
    best = max(catches, key=lambda catch: catch.grams)
    points = sum(POINTS[catch.fish] for catch in catches) + 2 * len({catch.fish for catch in catches})
    return Card(member, best.peg, sum(catch.grams for catch in catches), points, best.fish, longest_wait(catches))


Card = namedtuple("Card", ["member", "peg", "grams", "points", "best", "waited"])


def card_fixed(member, catches):
    best = max(catches, key=lambda catch: catch.grams)
    points = sum(POINTS[catch.fish] for catch in catches) + 2 * len({catch.fish for catch in catches})
    return Card(member, best.peg, sum(catch.grams for catch in catches), points, best.fish, longest_wait(catches))


class Season:
    def __init__(self, make_card):
        self.make_card = make_card
        self.total = defaultdict(int)
        self.heaviest = (0, None)
        self.patient = 0

    def enter(self, catches):
        bags = defaultdict(list)
        for catch in catches:
            bags[catch.member].append(catch)
        cards = [self.make_card(member, bag) for member, bag in bags.items()]
        cards.sort(key=lambda one: (-one.points, -one.grams, one.member))
        for place, one in enumerate(cards):
            self.total[one.member] += max(0, 25 - place)
            self.heaviest = max(self.heaviest, (one.grams, one.best))
            self.patient = max(self.patient, one.waited)
        return cards[0]


def one_pass(number, step):
    season = Season(step)
    winners = [tuple(season.enter(match_day(number, match))) for match in range(MATCHES)]
    table = sorted(season.total.items(), key=lambda entry: (-entry[1], entry[0]))
    return winners, table[:5], season.heaviest, season.patient


if __name__ == "__main__":
    run(one_pass, card, card_fixed)
