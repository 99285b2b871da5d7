# SPDX-License-Identifier: Apache-2.0
"""A game on a board: each possible move is tried on a copy of the game."""
import copy
import random

from rounds import rounds


class Game:
    def __init__(self, rng):
        self.board = [[rng.choice(".xo") for _ in range(8)] for _ in range(8)]
        self.moves = [(rng.randrange(8), rng.randrange(8)) for _ in range(30)]

    def play(self, row, column):
        self.board[row][column] = "x"
        self.moves.append((row, column))

    def score(self):
        return sum(line.count("x") for line in self.board)


def best_move(game):
    best = (-1, None)
    for row in range(8):
        for column in range(8):
            trial = copy.deepcopy(game)
            trial.play(row, column)
            best = max(best, (trial.score(), (row, column)))
    return best[1]


if __name__ == "__main__":
    for number in rounds():
        best_move(Game(random.Random(number)))
