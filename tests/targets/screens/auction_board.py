# SPDX-License-Identifier: Apache-2.0
"""An auction's board: after each bid, the three highest."""
import random

from rounds import rounds


def auction(number):
    rng = random.Random(number)
    bids = []
    board = None
    for _ in range(1500):
        bids.append((rng.randrange(100000), rng.random()))
        board = sorted(bids, reverse=True)[:3]
    return board


if __name__ == "__main__":
    for number in rounds():
        auction(number)
