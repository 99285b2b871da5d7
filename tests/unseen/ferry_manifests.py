# SPDX-License-Identifier: Apache-2.0
"""Manifests of an island ferry: each sailing's bookings are tidied, joined with fares and rolled into the season's books."""

import numpy as np
import pandas as pd

from runner import run

KINDS = ("foot", "cycle", "car", "van", "coach")
PORTS = ("Ness", "Holm", "Skerry", "Vik")


class Fares:
    """Fares by kind and leg; the office changes some of them between sailings."""

    def __init__(self, rng):
        legs = [f"{one}-{other}" for one in PORTS for other in PORTS if one != other]
        self.table = pd.DataFrame([(kind, leg, 4.0 + 9.0 * at) for at, kind in enumerate(KINDS) for leg in legs], columns=["kind", "leg", "fare"])
        self.table["fare"] += rng.uniform(0, 3, len(self.table)).round(2)

    def change(self, rng):
        rows = rng.choice(len(self.table), 3, replace=False)
        self.table.loc[rows, "fare"] = (self.table.loc[rows, "fare"] * rng.uniform(0.9, 1.15)).round(2)


def bookings(rng, sailing):
    count = int(rng.integers(200, 500))
    start = rng.choice(PORTS, count)
    end = rng.choice(PORTS, count)
    frame = pd.DataFrame(
        {
            "number": sailing * 1_000 + np.arange(count),
            "kind": rng.choice(KINDS, count, p=(0.5, 0.15, 0.25, 0.07, 0.03)),
            "start": start,
            "end": end,
            "people": rng.integers(1, 6, count),
            "metres": rng.gamma(4.0, 1.2, count).round(1),
            "came": rng.random(count) < 0.93,
        }
    )
    return frame[frame["start"] != frame["end"]]


class Books:
    def __init__(self, fares):
        self.fares = fares
        self.sailings = []
        self.deck = []

    def tidy(self, frame):
        frame = frame.assign(leg=frame["start"] + "-" + frame["end"])
        frame["metres"] = frame["metres"].where(frame["kind"].isin(("car", "van", "coach")), 0.0)
        return frame[frame["came"]]

    def priced(self, frame):
        frame = frame.merge(self.fares.table, on=["kind", "leg"], how="left")
        frame["due"] = frame["fare"] + 1.5 * (frame["people"] - 1) + 0.8 * frame["metres"].clip(lower=5.0)
        return frame

    def enter(self, sailing, frame):
        priced = self.priced(self.tidy(frame))
        sums = priced.groupby(["leg", "kind"], sort=True)[["due", "people"]].sum()
        self.sailings.append(sums.assign(sailing=sailing))
        self.deck.append(float(priced["metres"].sum()))
        return float(priced["due"].sum())

    def close(self):
        season = pd.concat(self.sailings)
        return season.groupby("leg")["due"].sum().sort_values(ascending=False)


def one_pass(number, step):
    rng = np.random.default_rng(number)
    fares = Fares(rng)
    books = Books(fares)
    taken = []
    for sailing in range(8):
        taken.append(books.enter(sailing, bookings(rng, sailing)))
        fares.change(rng)
    legs = books.close()
    return taken, list(legs.index[:3]), [float(value) for value in legs.iloc[:3]], max(books.deck)


if __name__ == "__main__":
    run(one_pass)
