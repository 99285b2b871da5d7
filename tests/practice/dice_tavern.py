# SPDX-License-Identifier: Apache-2.0
"""An evening at a tavern's dice table: six dice of twenty faces, kept or thrown again."""

import random
from collections import Counter

from common import run

FACES = 20


class Cup:
    def __init__(self, rng):
        self.rng = rng
        self.dice = [0] * 6
        self.thrown = 0

    def throw(self, places):
        self.thrown += 1
        for k in places:
            self.dice[k] = self.rng.randint(1, FACES)

    def lot(self):
        return self.rng.randint(1, 6)


def worth(counts):
    """Groups count by their size, neighbours a little, and the rest not at all."""
    points = 0
    for face, count in counts.items():
        points += (0, 0, 40, 150, 500, 2000, 10_000)[count] + (face if count > 1 else 0)
        if face + 1 in counts:
            points += 15
    return points


class Player:
    def __init__(self, name, patience, wish):
        self.name = name
        self.patience = patience
        self.wish = wish
        self.points = 0
        self.history = []

    def again(self, cup, counts):
        """The dice to throw again: those in no group, or all but one."""
        alone = [k for k, face in enumerate(cup.dice) if counts[face] == 1]
        return alone if len(alone) < 6 else alone[1:]

    def turn(self, cup):
        cup.throw(range(6))
        counts = Counter(cup.dice)
        best = worth(counts)
        for _ in range(self.patience):
            if best >= self.wish:
                break
            cup.throw(self.again(cup, counts))
            counts = Counter(cup.dice)
            best = max(best, worth(counts))
        if cup.lot() == 6:
            best *= 2
        self.points += best
        self.history.append(best)


def play(cup, players, goal=1500):
    turn = 0
    while max(player.points for player in players) < goal:
        players[turn % len(players)].turn(cup)
        turn += 1
    cup.rng.shuffle(players)
    return max(players, key=lambda player: player.points)


def one_pass(number, _):
    cup = Cup(random.Random(number))
    wins = Counter()
    best = 0
    for _ in range(40):
        players = [Player("Ada", 2, 60), Player("Bo", 3, 200), Player("Cy", 1, 40)]
        winner = play(cup, players)
        wins[winner.name] += 1
        best = max(best, max(winner.history))
    return [sorted(wins.items()), best, cup.thrown]


if __name__ == "__main__":
    run(one_pass)
