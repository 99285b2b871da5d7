# SPDX-License-Identifier: Apache-2.0
"""A news ticker: the newest message stands first."""
import random

from rounds import rounds


def messages(number):
    rng = random.Random(number)
    for n in range(60000):
        yield rng.random(), "message %d" % n


def ticker(number):
    shown = []
    for moment, text in messages(number):
        shown.insert(0, (moment, text))
    return shown


if __name__ == "__main__":
    for number in rounds():
        newest = ticker(number)[:10]
