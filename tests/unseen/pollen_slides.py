# SPDX-License-Identifier: Apache-2.0
"""Counts pollen on a scanner's slides: runs of light pixels in each row, joined from row to row into grains."""

import native
from runner import run

fieldkit = native.load("fieldkit.c")

SIDE = 240
SLIDES = 2
LIGHT = 60


class Run:
    __slots__ = ("begin", "end", "grain")

    def __init__(self, begin, end, grain):
        self.begin = begin
        self.end = end
        self.grain = grain


def row_runs(slide, y):
    """Where light pixels begin and end in one row."""
    runs, begin = [], None
    for x in range(SIDE):
        light = slide.pixel(x, y) >= LIGHT
        if light and begin is None:
            begin = x
        elif not light and begin is not None:
            runs.append((begin, x))
            begin = None
    if begin is not None:
        runs.append((begin, SIDE))
    return runs


def row_runs_fixed(slide, y):
    runs, begin = [], None
    for x, value in enumerate(slide.row(y)):
        light = value >= LIGHT
        if light and begin is None:
            begin = x
        elif not light and begin is not None:
            runs.append((begin, x))
            begin = None
    if begin is not None:
        runs.append((begin, SIDE))
    return runs


class Counter:
    def __init__(self, find_runs):
        self.find_runs = find_runs
        self.joined = []
        self.areas = []

    def root(self, grain):
        while self.joined[grain] != grain:
            grain = self.joined[grain]
        return grain

    def new(self):
        self.joined.append(len(self.joined))
        self.areas.append(0)
        return len(self.joined) - 1

    def count(self, slide):
        above = []
        for y in range(SIDE):
            here = []
            for begin, end in self.find_runs(slide, y):
                grain = None
                for run in above:
                    if run.begin < end and begin < run.end:
                        other = self.root(run.grain)
                        if grain is None:
                            grain = other
                        elif grain != other:
                            self.joined[other] = grain
                            self.areas[grain] += self.areas[other]
                if grain is None:
                    grain = self.new()
                self.areas[grain] += end - begin
                here.append(Run(begin, end, grain))
            above = here
        return sorted(area for grain, area in enumerate(self.areas) if self.joined[grain] == grain)


def one_pass(number, step):
    sheet = []
    for place in range(SLIDES):
        slide = fieldkit.Slide(SLIDES * number + place, SIDE)
        areas = Counter(step).count(slide)
        sheet.append((len(areas), sum(areas), areas[len(areas) // 2], areas[-1]))
    return sheet


if __name__ == "__main__":
    run(one_pass, row_runs, row_runs_fixed)
