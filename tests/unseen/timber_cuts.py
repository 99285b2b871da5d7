# SPDX-License-Identifier: Apache-2.0
"""Boards are sawn between their knots so that they bring most; what a board's end brings is reckoned once and then known."""

import random
from functools import cache

from runner import run

BOARDS = 90
PIECES = 9


def prices(rnd):
    """Lengths in decimetres that customers want today, with euros for each."""
    lengths = rnd.sample(range(6, 41), PIECES)
    return sorted((length, round(length * rnd.uniform(0.7, 1.6), 2)) for length in lengths)


def boards(rnd):
    """Each with its length, the places of its knots and how dear its wood is."""
    for _ in range(BOARDS):
        length = rnd.randrange(40, 96)
        yield length, sorted(rnd.sample(range(1, length), rnd.randrange(5))), rnd.uniform(0.8, 1.3)


def plan(wanted, length, knots, worth):
    """A function that gives the most that this board brings from some place to its end, and the first piece there."""
    clear, ahead = [], list(knots)
    for place in range(length):
        if ahead and ahead[0] <= place:
            ahead.pop(0)
        clear.append(ahead[0] if ahead else length)

    @cache
    def best(place):
        if place >= length:
            return 0.0, None
        most, first = 0.02 + best(place + 1)[0], None
        for piece, euros in wanted:
            if place + piece > clear[place]:
                break
            money = euros * worth - 0.15 + best(place + piece)[0]
            if money > most:
                most, first = money, piece
        return most, first

    return best


def cuts(best, length):
    place = 0
    while place < length:
        _, piece = best(place)
        if piece is None:
            place += 1
        else:
            yield place, piece
            place += piece


def one_pass(number, step):
    rnd = random.Random(number)
    wanted = prices(rnd)
    stock, money, waste, sheet = {}, 0.0, 0, []
    for length, knots, worth in boards(rnd):
        best = plan(wanted, length, knots, worth)
        money += best(0)[0]
        waste += length
        places = []
        for place, piece in cuts(best, length):
            stock[piece] = stock.get(piece, 0) + 1
            waste -= piece
            places.append("%d at %d" % (piece, place))
        sheet.append("%3d: %s" % (length, ", ".join(places) or "firewood"))
    return money, waste, sorted(stock.items()), sheet[:3]


if __name__ == "__main__":
    run(one_pass)
