# SPDX-License-Identifier: Apache-2.0
"""A hotel's ledger: nights, breakfasts and dues of each room of the month."""

import numpy as np
import pandas as pd
from common import run

ROOMS = 160
STAYS = 9000


def ledger(number):
    rng = np.random.default_rng(number)
    start = rng.integers(0, 28, STAYS)
    return pd.DataFrame(
        {
            "room": rng.integers(100, 100 + ROOMS, STAYS),
            "start": start,
            "nights": rng.integers(1, 9, STAYS),
            "rate": rng.gamma(9.0, 9.0, STAYS).round(2),
            "breakfast": rng.random(STAYS) < 0.6,
        }
    )


def dues(stays):
    nights = stays["nights"].to_numpy()
    rates = stays["rate"].to_numpy()
    long_stay = np.where(nights > 5, 0.9, 1.0)
    meals = int((nights * stays["breakfast"].to_numpy()).sum())
    busy = np.bincount(stays["start"].to_numpy(), weights=nights, minlength=28)
    return float((nights * rates * long_stay).sum()), meals, int(busy.argmax())


def by_room(book):
    sheet = {}
    for room in sorted(set(book["room"])):
        sheet[room] = dues(book.loc[book["room"] == room])
    return sheet


def by_room_fixed(book):
    return {room: dues(stays) for room, stays in book.groupby("room")}


def one_pass(number, how):
    book = ledger(number)
    sheet = how(book)
    money = sum(due for due, _, _ in sheet.values())
    return len(sheet), round(money, 2), sum(meals for _, meals, _ in sheet.values()), int(sheet[100][2])


if __name__ == "__main__":
    run(one_pass, by_room, by_room_fixed)
