# SPDX-License-Identifier: Apache-2.0
"""Draughts for a tablet: looks two moves ahead from random positions."""

import copy
import random

from common import run

SIZE = 8


def start(rng):
    cells = [[0] * SIZE for _ in range(SIZE)]
    for row in range(SIZE):
        for column in range((row + 1) % 2, SIZE, 2):
            if rng.random() < 0.4:
                cells[row][column] = rng.choice((1, 1, 1, 2, -1, -1, -1, -2))
    return {"cells": cells, "side": rng.choice((1, -1)), "taken": [0, 0]}


def steps(position):
    cells, side = position["cells"], position["side"]
    for row in range(SIZE):
        for column in range(SIZE):
            piece = cells[row][column]
            if piece * side <= 0:
                continue
            for down in (1, -1) if abs(piece) == 2 else (side,):
                for across in (1, -1):
                    y, x = row + down, column + across
                    if 0 <= y < SIZE and 0 <= x < SIZE and cells[y][x] == 0:
                        yield row, column, y, x


def play(position, step):
    row, column, y, x = step
    cells = position["cells"]
    piece = cells[row][column]
    cells[row][column] = 0
    if y == (SIZE - 1 if piece > 0 else 0) and abs(piece) == 1:
        piece *= 2
    cells[y][x] = piece
    position["side"] = -position["side"]
    return position


def after(position, step):
    return play(copy.deepcopy(position), step)


def after_fixed(position, step):
    twin = {
        "cells": [row[:] for row in position["cells"]],
        "side": position["side"],
        "taken": position["taken"][:],
    }
    return play(twin, step)


def value(position):
    total = 0
    for y, row in enumerate(position["cells"]):
        for x, piece in enumerate(row):
            total += 10 * piece
            if piece:
                total += (y if piece > 0 else y - SIZE) + (1 if 2 <= x < 6 else 0)
    return total


def best(position, depth, make):
    if depth == 0:
        return value(position)
    worth = [best(make(position, step), depth - 1, make) for step in steps(position)]
    return (max if position["side"] > 0 else min)(worth, default=value(position))


def one_pass(number, make):
    rng = random.Random(number)
    return [best(start(rng), 2, make) for _ in range(10)]


if __name__ == "__main__":
    run(one_pass, after, after_fixed)
