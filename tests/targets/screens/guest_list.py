# SPDX-License-Identifier: Apache-2.0
"""Who came to a festival: everybody once, however often they went in and out."""
import random

from rounds import rounds


def gate(number):
    rng = random.Random(number)
    return ["guest-%05d" % rng.randrange(4000) for _ in range(8000)]


def visitors(passed):
    seen = []
    for guest in passed:
        if guest not in seen:
            seen.append(guest)
    return seen


if __name__ == "__main__":
    for number in rounds():
        count = len(visitors(gate(number)))
