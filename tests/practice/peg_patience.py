# SPDX-License-Identifier: Apache-2.0
"""How far a player can come at peg solitaire on odd boards: search with every position seen but once."""

import random

from common import run

SIDE = 6


def leaps():
    for y in range(SIDE):
        for x in range(SIDE):
            for a, b in ((1, 0), (-1, 0), (0, 1), (0, -1)):
                if 0 <= x + 2 * a < SIDE and 0 <= y + 2 * b < SIDE:
                    yield y * SIDE + x, (y + b) * SIDE + x + a, (y + 2 * b) * SIDE + x + 2 * a


LEAPS = list(leaps())


class Search:
    def __init__(self, board, room):
        self.board = bytearray(board)
        self.room = room
        self.seen = set()
        self.fewest = sum(board)

    def go(self, pegs):
        if len(self.seen) >= self.room:
            return
        position = bytes(self.board)
        if position in self.seen:
            return
        self.seen.add(position)
        if pegs < self.fewest:
            self.fewest = pegs
        board = self.board
        for start, over, end in LEAPS:
            if board[start] and board[over] and not board[end]:
                board[start], board[over], board[end] = 0, 0, 1
                self.go(pegs - 1)
                board[start], board[over], board[end] = 1, 1, 0


def one_pass(number, step):
    rnd = random.Random(number)
    found = []
    for _ in range(5):
        board = [int(rnd.random() < 0.42) for _ in range(SIDE * SIDE)]
        search = Search(board, 900)
        search.go(sum(board))
        found.append((sum(board), search.fewest, len(search.seen)))
    return found


if __name__ == "__main__":
    run(one_pass)
