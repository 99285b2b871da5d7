# SPDX-License-Identifier: Apache-2.0
"""A gazetteer: loads the places of a country into an index by grid square and answers what lies near a point."""
import math
import random

import service

PLACES = 300000
SQUARE = 10

ENDINGS = ("ford", "ham", "wick", "thorpe", "combe", "stead", "by", "ton")


class Place:
    def __init__(self, name, east, north, people):
        self.name = name
        self.east = east
        self.north = north
        self.people = people


def load(rng):
    """Squares of SQUARE kilometres, with the places in each."""
    squares = {}
    for number in range(PLACES):
        name = "%s%s-%d" % (rng.choice(("Ash", "Bram", "Cold", "Elm", "Hare")), rng.choice(ENDINGS), number)
        place = Place(name, rng.random() * 500, rng.random() * 900, int(rng.random() ** 6 * 90000) + 12)
        key = (int(place.east) // SQUARE, int(place.north) // SQUARE)
        squares.setdefault(key, []).append(place)
    return squares


def around(key):
    column, row = key
    return [(column + x, row + y) for x in (-1, 0, 1) for y in (-1, 0, 1)]


def near(squares, east, north, count=5):
    found = []
    for key in around((int(east) // SQUARE, int(north) // SQUARE)):
        for place in squares.get(key, ()):
            found.append((math.hypot(place.east - east, place.north - north), place.name))
    found.sort()
    return found[:count]


def main():
    rng = random.Random(101)
    squares = load(rng)
    kilometres, answers = 0.0, 0
    for _ in service.rounds(per_second=100):
        for distance, _ in near(squares, rng.random() * 500, rng.random() * 900):
            kilometres += distance
            answers += 1
    print("answers %d, %.2f km off" % (answers, kilometres / max(1, answers)))


if __name__ == "__main__":
    main()
