# SPDX-License-Identifier: Apache-2.0
"""A county's school meals: a long ledger is read in pieces, and what has to be known of the rows before is carried on."""

import io

import numpy as np
import pandas as pd

from runner import run

ROWS = 6000
PIECE = 500
DISHES = ["pie", "curry", "fish", "pasta", "salad", "soup"]


def ledger(seed):
    """The text that the kitchens send in: rows by day, each a pupil's meal or a payment."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "day": np.sort(rng.integers(1, 31, ROWS)),
            "pupil": rng.integers(1000, 1400, ROWS),
            "dish": np.array(DISHES)[rng.integers(0, len(DISHES), ROWS)],
            "pence": np.where(rng.random(ROWS) < 0.12, rng.integers(500, 3000, ROWS), -rng.integers(180, 320, ROWS)),
        }
    )
    return frame.to_csv(index=False)


class Ledger:
    def __init__(self, text):
        self.reader = pd.read_csv(io.StringIO(text), iterator=True)
        self.balances = pd.Series(dtype="int64")
        self.dishes = pd.Series(0, index=DISHES)
        self.lowest = (0, None, None)
        self.last_day = 0

    def pieces(self):
        while True:
            try:
                yield self.reader.get_chunk(PIECE)
            except StopIteration:
                return

    def owe(self, piece, by_pupil):
        """The deepest debt of the piece, with what each pupil brought over from the last."""
        before = piece["pupil"].map(self.balances).fillna(0)
        running = before + by_pupil.cumsum()
        at = running.idxmin()
        self.lowest = min(self.lowest, (int(running[at]), int(piece.at[at, "pupil"]), int(piece.at[at, "day"])))

    def take(self, piece):
        by_pupil = piece.groupby("pupil")["pence"]
        self.owe(piece, by_pupil)
        self.balances = self.balances.add(by_pupil.sum(), fill_value=0).astype("int64")
        meals = piece[piece["pence"] < 0]
        self.dishes = self.dishes.add(meals["dish"].value_counts(), fill_value=0)
        days = piece["day"]
        if int(days.iloc[0]) < self.last_day:
            raise ValueError("the ledger goes back a day")
        self.last_day = int(days.iloc[-1])

    def report(self):
        worst = self.balances.nsmallest(5)
        return (
            [(int(pupil), int(pence)) for pupil, pence in worst.items()],
            {dish: int(count) for dish, count in self.dishes.sort_index().items()},
            self.lowest,
        )


def one_pass(number, step):
    book = Ledger(ledger(number))
    for piece in book.pieces():
        book.take(piece)
    return book.report()


if __name__ == "__main__":
    run(one_pass)
