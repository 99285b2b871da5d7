# SPDX-License-Identifier: Apache-2.0
"""Fire drills of a school on paper: from one plan of the building each drill blocks a few ways and empties the rooms."""

import copy
import random

from runner import run

ROOMS = 26
DRILLS = 14


class Door:
    def __init__(self, width):
        self.width = width
        self.passed = 0


class Room:
    def __init__(self, name, people):
        self.name = name
        self.people = people
        self.doors = []
        self.emptied = None


def plan(rnd):
    """Rooms along two corridors; a door belongs to both of the places that it joins."""
    rooms = [Room("way out", 0)] + [Room("room %d" % number, rnd.randrange(10, 80)) for number in range(1, ROOMS)]
    for place, room in enumerate(rooms[1:], 1):
        for other in {max(0, place - 2), rnd.randrange(place)}:
            door = Door(rnd.randrange(1, 4))
            room.doors.append((door, rooms[other]))
            rooms[other].doors.append((door, room))
    return rooms


def distances(rooms):
    """Steps from the way out."""
    steps = {rooms[0].name: 0}
    front = [rooms[0]]
    while front:
        ahead = []
        for room in front:
            for _, other in room.doors:
                if other.name not in steps:
                    steps[other.name] = steps[room.name] + 1
                    ahead.append(other)
        front = ahead
    return steps


def wall_up(room, rnd):
    """Takes a door away on both of its sides."""
    door, other = room.doors.pop(rnd.randrange(len(room.doors)))
    other.doors.remove((door, room))


def drill(rooms, rnd):
    for room in rnd.sample(rooms[1:], 8):
        room.people += rnd.randrange(25)
        if room.doors:
            wall_up(room, rnd)
    steps = distances(rooms)
    ways = {}
    for room in rooms[1:]:
        if room.name in steps:
            ahead = [(door, to) for door, to in room.doors if to.name in steps]
            ways[room.name] = min(ahead, key=lambda way: (steps[way[1].name], -way[0].width))
    nearest_first = sorted((room for room in rooms if room.name in ways), key=lambda room: steps[room.name])
    tick = 0
    while tick < 400 and any(room.people for room in nearest_first):
        tick += 1
        for room in nearest_first:
            door, to = ways[room.name]
            going = min(room.people, door.width)
            if going:
                room.people -= going
                to.people += going
                door.passed += going
                if not room.people:
                    room.emptied = tick
    return tick, rooms[0].people, sum(room.people for room in rooms[1:])


def one_pass(number, step):
    rnd = random.Random(number)
    building = plan(rnd)
    book = []
    for _ in range(DRILLS):
        rooms = copy.deepcopy(building)
        tick, out, left = drill(rooms, rnd)
        busiest = max(door.passed for room in rooms for door, _ in room.doors)
        book.append((tick, out, left, busiest))
    return book


if __name__ == "__main__":
    run(one_pass)
