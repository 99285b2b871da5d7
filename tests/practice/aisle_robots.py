# SPDX-License-Identifier: Apache-2.0
"""Robots that fetch crates in a warehouse, around each other and what falls from the shelves."""

import random
from collections import deque

from common import run

STEPS = ((0, 1), (1, 0), (0, -1), (-1, 0))


class Floor:
    def __init__(self, rng, height, width):
        self.height = height
        self.width = width
        self.rng = rng
        self.blocked = {(row, column) for row in range(2, height - 2, 3) for column in range(2, width - 2)}
        self.blocked -= {(row, column) for row in range(height) for column in range(6, width, 7)}
        self.fallen = deque()

    def free(self, cell):
        row, column = cell
        return 0 <= row < self.height and 0 <= column < self.width and cell not in self.blocked

    def drop(self):
        """Something falls into an aisle, and the oldest is swept up."""
        cell = self.rng.randrange(self.height), self.rng.randrange(1, self.width - 1)
        if cell not in self.blocked:
            self.blocked.add(cell)
            self.fallen.append(cell)
        if len(self.fallen) > 40:
            self.blocked.discard(self.fallen.popleft())


def route(floor, start, goal):
    came = {start: None}
    waiting = deque([start])
    while waiting:
        cell = waiting.popleft()
        if cell == goal:
            break
        row, column = cell
        for down, right in STEPS:
            other = row + down, column + right
            if other not in came and floor.free(other):
                came[other] = cell
                waiting.append(other)
    else:
        return None
    way = []
    while cell != start:
        way.append(cell)
        cell = came[cell]
    return way


class Robot:
    def __init__(self, dock):
        self.dock = dock
        self.moved = 0
        self.stuck = 0

    def fetch(self, floor, crate):
        way = route(floor, self.dock, crate)
        if way is None:
            self.stuck += 1
            return
        for cell in reversed(way):
            if not floor.free(cell):
                self.stuck += 1
                return
            self.moved += 1
            if self.moved % 8 == 0:
                floor.drop()
        self.moved += len(way)


def one_pass(number, _):
    rng = random.Random(number)
    floor = Floor(rng, 24, 40)
    robots = [Robot((0, 0)), Robot((23, 0)), Robot((0, 39))]
    crates = [(rng.randrange(1, 8) * 3, rng.randrange(3, 37)) for _ in range(6)]
    for turn in range(60):
        robots[turn % 3].fetch(floor, crates[turn % 6])
    return [[robot.moved, robot.stuck] for robot in robots]


if __name__ == "__main__":
    run(one_pass)
