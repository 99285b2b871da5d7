# SPDX-License-Identifier: Apache-2.0
"""What a courier asks for: by the distance from the depot to a post code's middle."""
import math
import random

from rounds import rounds

DEPOT = (52.5, 13.4)


def middle(postcode):
    """The middle of a post code's area, from its outline."""
    latitude, longitude = 52 + postcode % 37 / 30, 13 + postcode % 41 / 30
    corners = [(latitude + 0.01 * math.sin(n / 10), longitude + 0.01 * math.cos(n / 10)) for n in range(63)]
    return sum(c[0] for c in corners) / 63, sum(c[1] for c in corners) / 63


def distance(postcode):
    latitude, longitude = middle(postcode)
    return math.hypot((latitude - DEPOT[0]) * 111, (longitude - DEPOT[1]) * 68)


def orders(number):
    rng = random.Random(number)
    return [(rng.randrange(1000, 1050), rng.uniform(0.1, 20)) for _ in range(2000)]


def fees(day):
    total = 0
    for postcode, weight in day:
        total += 4 + 0.3 * distance(postcode) + 0.5 * weight
    return total


if __name__ == "__main__":
    for number in rounds():
        fees(orders(number))
