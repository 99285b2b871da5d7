# SPDX-License-Identifier: Apache-2.0
"""The heights of a bicycle tour, as its sensor sends them."""
import random

import numpy as np

from rounds import rounds


def sensor(number):
    rng = random.Random(number)
    height = 400.0
    for _ in range(20000):
        height += rng.uniform(-1, 1)
        yield height


def tour(number):
    heights = np.array([])
    for height in sensor(number):
        heights = np.append(heights, height)
    return heights


if __name__ == "__main__":
    for number in rounds():
        heights = tour(number)
        climbed = np.diff(heights).clip(min=0).sum()
