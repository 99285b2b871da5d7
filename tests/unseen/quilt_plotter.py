# SPDX-License-Identifier: Apache-2.0
"""Patterns of quilts as drawings for a cutting plotter: blocks of patches are laid out, turned, mirrored and written as SVG."""

import random
from dataclasses import dataclass

from runner import run

COLOURS = ("#7a1f2b", "#20435c", "#d9c7a0", "#4f6b3a", "#e8e2d4", "#b5651d")
BLOCKS = 10
QUARTERS = ((1, 0), (0, 1), (-1, 0), (0, -1))


@dataclass(frozen=True)
class Patch:
    corners: tuple
    colour: str

    def turned(self, quarter, middle):
        cos, sin = QUARTERS[quarter]
        mx, my = middle
        corners = tuple((mx + cos * (x - mx) - sin * (y - my), my + sin * (x - mx) + cos * (y - my)) for x, y in self.corners)
        return Patch(corners, self.colour)

    def moved(self, dx, dy):
        return Patch(tuple((x + dx, y + dy) for x, y in self.corners), self.colour)

    def area(self):
        pairs = zip(self.corners, self.corners[1:] + self.corners[:1])
        return abs(sum(x * v - u * y for (x, y), (u, v) in pairs)) / 2


def block(rnd, side=4, size=25.0):
    """A square of smaller squares, each cut along one of its diagonals."""
    patches = []
    for row in range(side):
        for column in range(side):
            x, y = column * size, row * size
            a, b, c, d = (x, y), (x + size, y), (x + size, y + size), (x, y + size)
            halves = ((a, b, c), (a, c, d)) if rnd.random() < 0.5 else ((a, b, d), (b, c, d))
            patches += [Patch(half, rnd.choice(COLOURS)) for half in halves]
    return patches


class Drawing:
    def __init__(self, width, height):
        self.text = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}">\n'
        self.cut = 0.0

    def write(self, line):
        self.text = self.text + line + "\n"

    def patch(self, patch):
        points = " ".join(f"{x:.2f},{y:.2f}" for x, y in patch.corners)
        self.write(f'<polygon points="{points}" fill="{patch.colour}" stroke="none"/>')
        self.cut += patch.area()

    def mark(self, x, y, text):
        self.write(f'<text x="{x:.1f}" y="{y:.1f}" font-size="6">{text}</text>')

    def finish(self):
        return self.text + "</svg>\n"


class DrawingFixed(Drawing):
    def __init__(self, width, height):
        super().__init__(width, height)
        self.lines = [self.text]

    def write(self, line):
        self.lines.append(line + "\n")

    def finish(self):
        return "".join(self.lines) + "</svg>\n"


def quilt(rnd, drawing):
    for row in range(BLOCKS):
        for column in range(BLOCKS // 2):
            quarter = rnd.randrange(4)
            for patch in block(rnd):
                drawing.patch(patch.turned(quarter, (50.0, 50.0)).moved(column * 100.0, row * 100.0))
            drawing.mark(column * 100 + 2, row * 100 + 8, f"{quarter} {row}.{column}")


def one_pass(number, step):
    rnd = random.Random(number)
    drawing = step(BLOCKS * 50.0, BLOCKS * 100.0)
    quilt(rnd, drawing)
    text = drawing.finish()
    return len(text), text.count("polygon"), text[-140:], drawing.cut


if __name__ == "__main__":
    run(one_pass, Drawing, DrawingFixed)
