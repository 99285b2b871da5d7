# SPDX-License-Identifier: Apache-2.0
"""Checks the index of a photographer's negatives: which entries lie outside of the shelf, and what is on each film."""

import os.path
import random
from collections import defaultdict

from runner import run

SUBJECTS = ("harbour", "wedding", "brewery", "regatta", "portrait", "signal box", "fair")
ENTRIES = 700


def index(seed):
    rnd = random.Random(seed)
    for _ in range(ENTRIES):
        film = "%d/film %03d" % (rnd.randrange(1958, 1974), rnd.randrange(90))
        name = "%s %02d%s" % (rnd.choice(SUBJECTS), rnd.randrange(1, 37), rnd.choice((".tif", ".tif", ".TIF", ".txt")))
        way = rnd.random()
        if way < 0.05:
            yield os.path.join("..", "prints", film, name)
        elif way < 0.25:
            yield os.path.join(film, "..", os.path.basename(film), ".", name)
        else:
            yield os.path.join(film, name)


def place(shelf, entry):
    """The entry's path below the shelf, or None where it leads elsewhere."""
    root = os.path.realpath(os.path.expanduser(shelf))
    path = os.path.normpath(os.path.join(root, entry))
    if not path.startswith(root + os.sep):
        return None
    return path[len(root) + 1 :]


def inspect(shelf, entries):
    inside, outside = [], []
    for entry in entries:
        path = place(shelf, entry)
        if path is None:
            outside.append(entry)
        else:
            inside.append(path)
    return inside, outside


def inspect_fixed(shelf, entries):
    root = os.path.realpath(os.path.expanduser(shelf))
    inside, outside = [], []
    for entry in entries:
        path = os.path.normpath(os.path.join(root, entry))
        if path.startswith(root + os.sep):
            inside.append(path[len(root) + 1 :])
        else:
            outside.append(entry)
    return inside, outside


def films(paths):
    """Frames and notes of each film, and frames that occur twice."""
    frames, notes, double = defaultdict(set), defaultdict(int), []
    for path in paths:
        film, name = os.path.split(path)
        stem, kind = os.path.splitext(name)
        if kind.lower() == ".txt":
            notes[film] += 1
            continue
        frame = int(stem.rsplit(" ", 1)[1])
        if frame in frames[film]:
            double.append((film, frame))
        frames[film].add(frame)
    return frames, notes, double


def one_pass(number, step):
    inside, outside = step("~/archive/box %d/negatives" % number, index(number))
    frames, notes, double = films(inside)
    fullest = max(sorted(frames), key=lambda film: len(frames[film]))
    return len(outside), outside[:2], len(frames), fullest, sorted(frames[fullest]), sum(notes.values()), len(double)


if __name__ == "__main__":
    run(one_pass, inspect, inspect_fixed)
