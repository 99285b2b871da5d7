# SPDX-License-Identifier: Apache-2.0
"""Solves sliding puzzles of eight tiles by the shortest way: states wait in a heap by moves done and moves still needed."""

import heapq
import random

from common import run

GOAL = bytes((1, 2, 3, 4, 5, 6, 7, 8, 0))
STEPS = {at: [at + step for step, ok in ((-3, at > 2), (3, at < 6), (-1, at % 3 > 0), (1, at % 3 < 2)) if ok] for at in range(9)}


def away(tile, at):
    home = tile - 1
    return abs(home // 3 - at // 3) + abs(home % 3 - at % 3)


# For each tile and each step of it, how much nearer or farther it is from home after the step.
SHIFT = {(tile, a, b): away(tile, b) - away(tile, a) for tile in range(1, 9) for a in STEPS for b in STEPS[a]}


class Search:
    def __init__(self, start):
        self.start = start
        self.came_from = {start: None}
        self.opened = 0
        needed = sum(away(tile, at) for at, tile in enumerate(start) if tile)
        self.heap = [(needed, 0, start, start.index(0))]
        self.best = {start: 0}

    def neighbours(self, state, blank):
        for at in STEPS[blank]:
            moved = bytearray(state)
            moved[blank], moved[at] = state[at], 0
            yield bytes(moved), at, SHIFT[state[at], at, blank]

    def run(self):
        while self.heap:
            total, minus, state, blank = heapq.heappop(self.heap)
            moves = -minus
            if state == GOAL:
                return moves
            if moves > self.best[state]:
                continue
            self.opened += 1
            for following, at, shift in self.neighbours(state, blank):
                if moves + 1 < self.best.get(following, 99):
                    self.best[following] = moves + 1
                    self.came_from[following] = state
                    heapq.heappush(self.heap, (total + shift + 1, -moves - 1, following, at))
        return None

    def path(self):
        state = GOAL
        while state is not None:
            yield state
            state = self.came_from[state]


def shuffled(rnd, moves):
    """A state from which the goal can be reached."""
    state, blank, before = bytearray(GOAL), 8, None
    for _ in range(moves):
        at = rnd.choice([step for step in STEPS[blank] if step != before])
        state[blank], state[at] = state[at], 0
        before, blank = blank, at
    return bytes(state)


def one_pass(number, _):
    rnd = random.Random(number)
    lengths, opened, first = [], 0, None
    for _ in range(10):
        search = Search(shuffled(rnd, 120))
        lengths.append(search.run())
        opened += search.opened
        path = list(search.path())
        first = first or path[len(path) // 2].hex()
    return lengths, opened, first


if __name__ == "__main__":
    run(one_pass, None)
