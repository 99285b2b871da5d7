# SPDX-License-Identifier: Apache-2.0
"""Odds of a whist hand: the rest of the pack is dealt at random many times, and the tricks are played out by simple rules."""

import random
from collections import Counter
from dataclasses import dataclass

from common import run

SUITS = "SHDC"
PACK = [(suit, rank) for suit in SUITS for rank in range(2, 15)]


@dataclass
class Table:
    trump: str
    hands: list
    leader: int = 0
    taken: tuple = (0, 0)

    def follow(self, seat, led):
        hand = self.hands[seat]
        return [card for card in hand if card[0] == led] or hand

    def strength(self, card, led):
        suit, rank = card
        if suit == self.trump:
            return 100 + rank
        return rank if suit == led else 0

    def choose(self, seat, trick):
        """Lead the longest suit's top; else the cheapest card that wins, or the cheapest."""
        if not trick:
            lengths = Counter(suit for suit, _ in self.hands[seat])
            return max(self.hands[seat], key=lambda card: (lengths[card[0]], card[1]))
        led = trick[0][1][0]
        allowed = self.follow(seat, led)
        best_seat, best = max(trick, key=lambda played: self.strength(played[1], led))
        cheapest = min(allowed, key=lambda card: self.strength(card, led))
        if (seat - best_seat) % 2 == 0:
            return cheapest
        bar = self.strength(best, led)
        winning = [card for card in allowed if self.strength(card, led) > bar]
        return min(winning, key=lambda card: self.strength(card, led)) if winning else cheapest

    def play_trick(self):
        trick = []
        for turn in range(4):
            seat = (self.leader + turn) % 4
            card = self.choose(seat, trick)
            self.hands[seat].remove(card)
            trick.append((seat, card))
        led = trick[0][1][0]
        self.leader = max(trick, key=lambda played: self.strength(played[1], led))[0]
        ours, theirs = self.taken
        self.taken = (ours + 1, theirs) if self.leader % 2 == 0 else (ours, theirs + 1)


def deal(rnd, mine):
    rest = [card for card in PACK if card not in mine]
    rnd.shuffle(rest)
    return [list(mine), rest[:13], rest[13:26], rest[26:]]


def odds(rnd, mine, trump, games):
    counts = Counter()
    for game in range(games):
        table = Table(trump, deal(rnd, mine), leader=game % 4)
        for _ in range(13):
            table.play_trick()
        counts[table.taken[0]] += 1
    return counts


def one_pass(number, step):
    rnd = random.Random(number)
    mine = rnd.sample(PACK, 13)
    counts = odds(rnd, mine, rnd.choice(SUITS), 70)
    return sum(tricks * count for tricks, count in counts.items()), sorted(counts.items())


if __name__ == "__main__":
    run(one_pass)
