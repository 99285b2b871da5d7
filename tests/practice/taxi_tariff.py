# SPDX-License-Identifier: Apache-2.0
"""A taxi firm's evening: fares of the day's trips, receipts, and the drivers' takings."""

from decimal import ROUND_HALF_UP, Decimal

import numpy as np
import pandas as pd

from common import run

STEP = Decimal("0.10")
CENT = Decimal("0.01")
WHOLE = Decimal(1)
TARIFF = {"day": (4.3, 2.1, 0.55), "night": (5.4, 2.6, 0.55), "airport": (9.0, 1.9, 0.40)}


def make_trips(seed, count):
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "driver": rng.integers(100, 160, count),
            "start": pd.Timestamp("2024-03-01") + pd.to_timedelta(np.sort(rng.integers(0, 86_400, count)), unit="s"),
            "km": rng.gamma(2.0, 3.5, count),
            "waiting": rng.exponential(4.0, count),
            "kind": rng.choice(["day", "night", "airport"], count, p=[0.6, 0.25, 0.15]),
            "card": rng.random(count) < 0.7,
        }
    )


def fare(km, waiting, kind):
    base, each, minute = TARIFF[kind]
    first = min(km, 7.0) * each
    rest = max(km - 7.0, 0.0) * each * 0.8
    amount = Decimal(base + first + rest + waiting * minute)
    return (amount / STEP).quantize(WHOLE, ROUND_HALF_UP) * STEP


def fares(trips):
    charged = []
    for _, trip in trips.iterrows():
        charged.append(fare(trip["km"], trip["waiting"], trip["kind"]))
    return charged


def fares_fixed(trips):
    charged = []
    for trip in trips.itertuples(index=False):
        charged.append(fare(trip.km, trip.waiting, trip.kind))
    return charged


def receipts(starts, charged):
    lines = []
    for start, amount in zip(starts.dt.strftime("%d.%m. %H:%M:%S"), charged):
        tax = (amount * 7 / 107).quantize(CENT, ROUND_HALF_UP)
        lines.append(f"{start} {amount:>8} incl. {tax:>6} tax")
    return "\n".join(lines)


def takings(trips, charged):
    table = trips.assign(fare=[float(amount) for amount in charged])
    table["hour"] = table["start"].dt.hour
    by_driver = table.groupby("driver").agg(sum=("fare", "sum"), km=("km", "sum"), trips=("fare", "size"))
    by_driver["per_km"] = by_driver["sum"] / by_driver["km"]
    hours = table.pivot_table(index="hour", columns="kind", values="fare", aggfunc="mean", fill_value=0.0)
    share = table.loc[table["card"], "fare"].sum() / table["fare"].sum()
    return by_driver.nlargest(5, "per_km").index.tolist(), float(hours.to_numpy().sum()), float(share)


def one_pass(number, charge):
    trips = make_trips(number, 2500)
    charged = charge(trips)
    best, hourly, share = takings(trips, charged)
    return best, hourly, share, str(sum(charged)), len(receipts(trips["start"], charged))


if __name__ == "__main__":
    run(one_pass, fares, fares_fixed)
