# SPDX-License-Identifier: Apache-2.0
"""An arena's evening of duels: fights are rolled, ratings move, and each winner is told the new rank."""

import random
from bisect import bisect_left, bisect_right, insort

from common import run

CLASSES = {"mage": (7, 22, 70), "knight": (10, 15, 110), "thief": (4, 30, 85)}


class Ladder:
    def __init__(self, names):
        self.ratings = {name: 1500.0 + 0.01 * k for k, name in enumerate(names)}

    def change(self, name, by):
        self.ratings[name] += by

    def rank(self, name):
        return sorted(self.ratings.values(), reverse=True).index(self.ratings[name]) + 1


class KeptLadder(Ladder):
    def __init__(self, names):
        super().__init__(names)
        self.order = sorted(self.ratings.values())

    def change(self, name, by):
        del self.order[bisect_left(self.order, self.ratings[name])]
        super().change(name, by)
        insort(self.order, self.ratings[name])

    def rank(self, name):
        return len(self.order) - bisect_right(self.order, self.ratings[name]) + 1


class Fighter:
    def __init__(self, name, rng):
        self.name = name
        self.kind = rng.choice(list(CLASSES))
        self.skill = rng.gauss(0, 3)
        self.wins = 0

    def blow(self, dice):
        low, high, _ = CLASSES[self.kind]
        hit = low + (high - low) * dice() + self.skill
        return 2 * hit if dice() < 0.08 else max(hit, 1.0)


def duel(one, two, dice):
    life = [CLASSES[one.kind][2], CLASSES[two.kind][2]]
    turn = int(dice() < 0.5)
    while True:
        life[1 - turn] -= (one, two)[turn].blow(dice)
        if life[1 - turn] <= 0:
            return turn, max(life)
        turn = 1 - turn


def paired(fighters, ladder, rng):
    """Neighbours on the ladder meet, with a little chance in it."""
    queue = sorted(fighters, key=lambda f: ladder.ratings[f.name] + rng.gauss(0, 40))
    return zip(queue[::2], queue[1::2])


def evening(fighters, ladder, rng, rounds):
    notes = []
    for _ in range(rounds):
        for pair in paired(fighters, ladder, rng):
            winner, left = duel(*pair, rng.random)
            victor, loser = pair[winner], pair[1 - winner]
            gap = ladder.ratings[loser.name] - ladder.ratings[victor.name]
            gain = 24 / (1 + 10 ** (-gap / 400)) * (1 + left / 1000)
            ladder.change(victor.name, gain)
            ladder.change(loser.name, -gain)
            victor.wins += 1
            notes.append((victor.name, ladder.rank(victor.name)))
    return notes


def one_pass(number, kind):
    rng = random.Random("arena %d" % number)
    names = ["%s%02d" % (rng.choice(("Orl", "Bex", "Tam", "Ush")), k) for k in range(160)]
    ladder = kind(names)
    fighters = [Fighter(name, rng) for name in names]
    notes = evening(fighters, ladder, rng, 24)
    best = max(fighters, key=lambda f: ladder.ratings[f.name])
    return best.name, best.wins, sum(rank for _, rank in notes), notes[-1]


if __name__ == "__main__":
    run(one_pass, Ladder, KeptLadder)
