# SPDX-License-Identifier: Apache-2.0
"""A shared whiteboard: strokes, notes and stickers come from several hands, and every few of them the board is saved with a check sum."""

import pickle
import random
import zlib

from runner import run

COLOURS = ("black", "red", "green", "blue")


class Board:
    def __init__(self, width, height):
        self.width = width
        self.height = height
        self.strokes = {}
        self.notes = {}
        self.order = []
        self.changes = 0

    def bounds(self, number):
        points = self.strokes[number]["points"]
        across, down = [x for x, _ in points], [y for _, y in points]
        return min(across), min(down), max(across), max(down)


def draw(board, rnd):
    x, y = rnd.randrange(board.width), rnd.randrange(board.height)
    points = [(x, y)]
    for _ in range(rnd.randint(3, 12)):
        x, y = x + rnd.randint(-9, 9), y + rnd.randint(-9, 9)
        points.append((x, y))
    board.strokes[board.changes] = {"colour": rnd.choice(COLOURS), "points": points}
    board.order.append(board.changes)


def write(board, rnd):
    board.notes[board.changes] = {"at": (rnd.randrange(board.width), rnd.randrange(board.height)), "text": "%x" % rnd.getrandbits(90)}


def move(board, rnd):
    """A whole stroke, in place."""
    number = rnd.choice(board.order)
    dx, dy = rnd.randint(-20, 20), rnd.randint(-20, 20)
    stroke = board.strokes[number]
    stroke["points"] = [(x + dx, y + dy) for x, y in stroke["points"]]


def rub(board, rnd):
    number = board.order.pop(rnd.randrange(len(board.order)))
    del board.strokes[number]


def touched(board):
    """How many strokes the newest one meets, by their bounds."""
    left, top, right, bottom = board.bounds(board.order[-1])
    count = 0
    for number in board.order[-20:-1]:
        a, b, c, d = board.bounds(number)
        count += a <= right and c >= left and b <= bottom and d >= top
    return count


class Keeper:
    def __init__(self, board):
        self.board = board
        self.sums = []
        self.size = 0

    def save(self):
        """The same board each time, and another state of it."""
        data = pickle.dumps(self.board)
        packed = zlib.compress(data, 1)
        self.sums.append(zlib.crc32(packed))
        self.size += len(packed)
        return packed


def one_pass(number, step):
    rnd = random.Random(number)
    board = Board(300, 220)
    keeper = Keeper(board)
    meets, packed = 0, b""
    for _ in range(100):
        chance = rnd.random()
        action = draw if chance < 0.45 or len(board.order) < 4 else write if chance < 0.6 else move if chance < 0.9 else rub
        action(board, rnd)
        board.changes += 1
        meets += touched(board)
        if board.changes % 4 == 0:
            packed = keeper.save()
    again = pickle.loads(zlib.decompress(packed))
    return meets, keeper.size, len(keeper.sums), len(set(keeper.sums)), again.order == board.order


if __name__ == "__main__":
    run(one_pass)
