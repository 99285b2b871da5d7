# SPDX-License-Identifier: Apache-2.0
"""An editor for floor plans: rooms and furniture are moved, turned and copied, and every step can be undone and done again."""

import copy
import random

from common import run

KINDS = ("table", "chair", "shelf", "lamp", "sofa")


class Item:
    def __init__(self, kind, x, y):
        self.kind = kind
        self.x = x
        self.y = y
        self.turn = 0
        self.notes = {}

    def move(self, dx, dy):
        self.x += dx
        self.y += dy


class Room:
    def __init__(self, name, width, depth):
        self.name = name
        self.width = width
        self.depth = depth
        self.items = []

    def free(self, x, y):
        return 0 <= x <= self.width and 0 <= y <= self.depth and all(abs(item.x - x) + abs(item.y - y) > 2 for item in self.items)

    def score(self):
        used = sum(1 + (item.turn % 2) for item in self.items)
        spread = sum(abs(a.x - b.x) + abs(a.y - b.y) for a, b in zip(self.items, self.items[1:]))
        return used * 3 + spread


class Editor:
    def __init__(self, rooms):
        self.rooms = rooms
        self.undo_stack = []
        self.redo_stack = []

    def remember(self, room):
        """A copy of the room as it is now; what comes next changes the room, not the copy."""
        self.undo_stack.append((room, copy.deepcopy(self.rooms[room])))
        del self.undo_stack[:-12]
        self.redo_stack.clear()

    def swap(self, taken, given):
        if taken:
            room, before = taken.pop()
            given.append((room, self.rooms[room]))
            self.rooms[room] = before

    def undo(self):
        self.swap(self.undo_stack, self.redo_stack)

    def redo(self):
        self.swap(self.redo_stack, self.undo_stack)

    def place(self, room, kind, x, y):
        if self.rooms[room].free(x, y):
            self.remember(room)
            self.rooms[room].items.append(Item(kind, x, y))

    def nudge(self, room, at, dx, dy):
        items = self.rooms[room].items
        if at < len(items) and self.rooms[room].free(items[at].x + dx, items[at].y + dy):
            self.remember(room)
            self.rooms[room].items[at].move(dx, dy)

    def copy_room(self, room):
        into = (room + 1) % len(self.rooms)
        self.remember(into)
        twin = copy.deepcopy(self.rooms[room])
        twin.name += "'"
        for item in twin.items:
            item.turn += 1
            item.notes["from"] = room
        self.rooms[into] = twin


def hour(rnd, editor):
    for _ in range(150):
        room = rnd.randrange(len(editor.rooms))
        chance = rnd.random()
        if chance < 0.45:
            editor.place(room, rnd.choice(KINDS), rnd.randint(0, 20), rnd.randint(0, 20))
        elif chance < 0.75:
            editor.nudge(room, rnd.randrange(6), rnd.randint(-4, 4), rnd.randint(-4, 4))
        elif chance < 0.8:
            editor.copy_room(room)
        elif chance < 0.93:
            editor.undo()
        else:
            editor.redo()
        yield sum(room.score() for room in editor.rooms)


def one_pass(number, step):
    rnd = random.Random(number)
    editor = Editor([Room("room %d" % at, rnd.randint(12, 20), rnd.randint(12, 20)) for at in range(5)])
    scores = list(hour(rnd, editor))
    return max(scores), scores[-1], [len(room.items) for room in editor.rooms], [room.name for room in editor.rooms]


if __name__ == "__main__":
    run(one_pass)
