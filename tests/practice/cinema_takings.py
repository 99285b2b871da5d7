# SPDX-License-Identifier: Apache-2.0
"""A chain of cinemas on Monday morning: takings of the week by screening, house and film."""

import numpy as np
import pandas as pd

from common import run

TICKETS, SCREENINGS = 30_000, 380
FILMS = ["Salt Road", "The Lender", "Nine Harbours", "Paper Moonlight", "Otter Year", "Low Tide", "Grand Detour"]


def make_week(seed):
    rng = np.random.default_rng(seed)
    screening = rng.integers(0, SCREENINGS, TICKETS)
    film = rng.integers(0, len(FILMS), SCREENINGS)
    tickets = pd.DataFrame(
        {
            "screening": screening,
            "house": screening % 11,
            "film": pd.Categorical.from_codes(film[screening], FILMS),
            "paid": rng.choice([6.5, 9.0, 11.5, 14.0], TICKETS) + rng.normal(0, 0.2, TICKETS).round(2),
            "minutes_before": rng.gamma(1.6, 600, TICKETS).astype(int),
            "member": rng.integers(0, 9_000, TICKETS),
        }
    )
    return tickets


def by_screening(tickets):
    return tickets.groupby("screening").agg({"paid": lambda paid: paid.max(), "member": lambda who: who.nunique()})


def by_screening_fixed(tickets):
    return tickets.groupby("screening").agg({"paid": "max", "member": "nunique"})


def top_films(tickets):
    takings = tickets.pivot_table(index="house", columns="film", values="paid", aggfunc="sum", observed=False)
    share = takings.div(takings.sum(axis=1), axis=0)
    return share.idxmax(axis=1).tolist(), float(share.max().max())


def booking_curve(tickets):
    hours = pd.cut(tickets["minutes_before"], [-1, 30, 60, 180, 720, 1440, 10**6])
    curve = tickets.groupby([tickets["house"], hours], observed=False)["paid"].sum().unstack()
    return curve.cumsum(axis=1)


def regulars(tickets):
    """Members who came more than once, and what they spent at their dearest visit."""
    ordered = tickets.sort_values(["member", "minutes_before"], ascending=[True, False])
    again = ordered[ordered.duplicated("member", keep=False)]
    spent = again.groupby("member")["paid"].sum()
    return int(again["member"].nunique()), float(spent.nlargest(50).mean())


def slips(tickets):
    """What each house faxes to its distributor, by film."""
    table = tickets.groupby(["house", "film"], observed=False)["paid"].agg(["size", "sum"]).reset_index()
    lines = ["%02d %-16s %5d %10.2f" % row for row in table.itertuples(index=False, name=None)]
    return len("\n".join(lines)), lines[:2]


def one_pass(number, screenings_of):
    tickets = make_week(number)
    screenings = screenings_of(tickets)
    crowded = screenings[screenings["member"] > screenings["member"].quantile(0.9)]
    best, share = top_films(tickets)
    early = booking_curve(tickets)
    return [
        float(crowded["paid"].sum()),
        int(screenings["member"].sum()),
        best,
        share,
        float(early.iloc[:, 3].sum()),
        *regulars(tickets),
        *slips(tickets),
    ]


if __name__ == "__main__":
    run(one_pass, by_screening, by_screening_fixed)
