# SPDX-License-Identifier: Apache-2.0
"""Turn loop of a dungeon game: monsters roam, flee walls, doors open and shut."""

import numpy as np

from common import run

FLOOR, WALL, DOOR = 0, 1, 2
SIZE = 56
MOVES = np.array([(0, 1), (0, -1), (1, 0), (-1, 0)])


class Level:
    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)
        self.tiles = np.where(self.rng.random((SIZE, SIZE)) < 0.12, WALL, FLOOR)
        self.tiles[0, :] = self.tiles[-1, :] = self.tiles[:, 0] = self.tiles[:, -1] = WALL
        self.doors = [tuple(spot) for spot in self.rng.integers(1, SIZE - 1, (6, 2))]

    def toggle_doors(self, turn):
        row, column = self.doors[turn % len(self.doors)]
        self.tiles[row, column] = DOOR if self.tiles[row, column] == WALL else WALL


class Monster:
    def __init__(self, rng, name):
        self.name = name
        self.at = rng.integers(1, SIZE - 1, 2)
        self.fear = int(rng.integers(1, 4))
        self.steps = 0

    def room(self, walls):
        return int(np.abs(walls - self.at).sum(axis=1).min())

    def act(self, level, find_walls):
        walls = find_walls(level.tiles)
        options = [step for step in MOVES if level.tiles[tuple(self.at + step)] != WALL]
        if not options:
            return
        if self.room(walls) < self.fear:
            here = self.at
            options.sort(key=lambda step: -np.abs(here + step - SIZE // 2).sum())
            step = options[-1]
        else:
            step = options[int(level.rng.integers(len(options)))]
        self.at = np.clip(self.at + step, 1, SIZE - 2)
        self.steps += 1


def walls_of(tiles):
    return np.argwhere(tiles == WALL)


def turn_as_written(level, monsters):
    for monster in monsters:
        monster.act(level, walls_of)


def turn_fixed(level, monsters):
    walls = walls_of(level.tiles)
    for monster in monsters:
        monster.act(level, lambda tiles: walls)


def one_pass(number, take_turn):
    level = Level(number)
    monsters = [Monster(level.rng, "orc-%d" % n) for n in range(30)]
    for turn in range(80):
        level.toggle_doors(turn)
        take_turn(level, monsters)
    return [int(value) for monster in monsters for value in monster.at], sum(monster.steps for monster in monsters)


if __name__ == "__main__":
    run(one_pass, turn_as_written, turn_fixed)
