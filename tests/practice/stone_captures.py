# SPDX-License-Identifier: Apache-2.0
"""Random games of Go on a small board, to estimate how openings turn out."""

import random

from common import run

SIZE = 9
EMPTY, BLACK, WHITE = 0, 1, 2
POINTS = [(row, column) for row in range(SIZE) for column in range(SIZE)]
AROUND = {
    (row, column): [
        (row + down, column + right)
        for down, right in ((0, 1), (1, 0), (0, -1), (-1, 0))
        if 0 <= row + down < SIZE and 0 <= column + right < SIZE
    ]
    for row, column in POINTS
}


class Board:
    def __init__(self):
        self.stones = [[EMPTY] * SIZE for _ in range(SIZE)]
        self.taken = {BLACK: 0, WHITE: 0}

    def at(self, row, column):
        return self.stones[row][column]

    def group(self, row, column):
        """The stones joined to this one, and their liberties."""
        colour = self.stones[row][column]
        stones, liberties, left = {(row, column)}, set(), [(row, column)]
        while left:
            for other in AROUND[left.pop()]:
                found = self.stones[other[0]][other[1]]
                if found == EMPTY:
                    liberties.add(other)
                elif found == colour and other not in stones:
                    stones.add(other)
                    left.append(other)
        return stones, liberties

    def lift(self, stones):
        for row, column in stones:
            self.taken[self.stones[row][column]] += 1
            self.stones[row][column] = EMPTY

    def play(self, row, column, colour):
        self.stones[row][column] = colour
        for other in AROUND[row, column]:
            if self.at(*other) == 3 - colour:
                stones, liberties = self.group(*other)
                if not liberties:
                    self.lift(stones)
        stones, liberties = self.group(row, column)
        if not liberties:
            self.stones[row][column] = EMPTY
            return False
        return True

    def eye(self, row, column, colour):
        return all(self.at(*other) == colour for other in AROUND[row, column])


def game(rng, opening):
    board = Board()
    for turn, point in enumerate(opening):
        board.play(*point, BLACK if turn % 2 == 0 else WHITE)
    colour, moves = BLACK, 0
    for _ in range(160):
        row, column = rng.choice(POINTS)
        if board.at(row, column) == EMPTY and not board.eye(row, column, colour):
            moves += board.play(row, column, colour)
            colour = 3 - colour
    black = sum(row.count(BLACK) for row in board.stones)
    white = sum(row.count(WHITE) for row in board.stones)
    return black - white, moves, board.taken[WHITE] - board.taken[BLACK]


def one_pass(number, _):
    rng = random.Random(number)
    games = [game(rng, rng.sample(POINTS, 4)) for _ in range(40)]
    return [sum(column) for column in zip(*games)]


if __name__ == "__main__":
    run(one_pass)
