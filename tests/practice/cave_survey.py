# SPDX-License-Identifier: Apache-2.0
"""Floods a cave's grid from its mouth to see which halls hang together, how deep they lie, and draws the plan."""

import random
from collections import deque

from common import run

WIDE, HIGH = 36, 26


def dig(seed):
    rnd = random.Random(seed)
    open_cells = {(x, y): rnd.random() < 0.68 for x in range(WIDE) for y in range(HIGH)}
    for _ in range(2):
        smoother = {}
        for (x, y), is_open in open_cells.items():
            around = sum(open_cells.get((x + a, y + b), False) for a in (-1, 0, 1) for b in (-1, 0, 1))
            smoother[x, y] = around > 4
        open_cells = smoother
    return open_cells


def beside(cell):
    x, y = cell
    return (x + 1, y), (x - 1, y), (x, y + 1), (x, y - 1)


def hall(mouth, open_cells):
    seen = [mouth]
    depth = {mouth: 0}
    front = deque(seen)
    while front:
        cell = front.popleft()
        for near in beside(cell):
            if open_cells.get(near) and near not in seen:
                seen.append(near)
                depth[near] = depth[cell] + 1
                front.append(near)
    return depth


def hall_fixed(mouth, open_cells):
    seen = {mouth}
    depth = {mouth: 0}
    front = deque(seen)
    while front:
        cell = front.popleft()
        for near in beside(cell):
            if open_cells.get(near) and near not in seen:
                seen.add(near)
                depth[near] = depth[cell] + 1
                front.append(near)
    return depth


def plan(open_cells, depth):
    lines = []
    for y in range(HIGH):
        lines.append("".join("#" if not open_cells[x, y] else format(depth[x, y] % 16, "x") if (x, y) in depth else "." for x in range(WIDE)))
    return lines


def one_pass(number, step):
    drawn, halls = [], 0
    for cave in range(3):
        open_cells = dig(10 * number + cave)
        left = {cell for cell, is_open in open_cells.items() if is_open}
        largest = {}
        while left:
            depth = step(min(left), open_cells)
            left.difference_update(depth)
            halls += 1
            if len(depth) > len(largest):
                largest = depth
        drawn.append((len(largest), max(largest.values()), plan(open_cells, largest)[7]))
    return halls, drawn


if __name__ == "__main__":
    run(one_pass, hall, hall_fixed)
