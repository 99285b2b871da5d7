# SPDX-License-Identifier: Apache-2.0
"""Grain brought to a cooperative's elevators is paid by the price list in force at the time, grain by grain and grade."""

import numpy as np
import pandas as pd

from runner import run

ELEVATORS = 7
NOTES = 20000
LOADS = 500
GRAINS = pd.CategoricalDtype(["barley", "oats", "rape", "rye", "wheat"])


def price_notes(rng, start):
    """Notes of the exchange, in the order in which clerks typed them in."""
    when = start + pd.to_timedelta(300 * rng.integers(0, 60 * 288, NOTES), unit="s")
    return pd.DataFrame(
        {
            "since": when,
            "grain": pd.Categorical.from_codes(rng.integers(0, 5, NOTES), dtype=GRAINS),
            "euros": rng.normal(210, 25, NOTES).round(2),
            "clerk": rng.integers(100, 140, NOTES),
        }
    )


def loads(rng, start):
    """One elevator's loads, as its scale wrote them down."""
    seconds = np.sort(rng.integers(86400, 60 * 86400, LOADS))
    return pd.DataFrame(
        {
            "came": start + pd.to_timedelta(seconds, unit="s"),
            "grain": pd.Categorical.from_codes(rng.integers(0, 5, LOADS), dtype=GRAINS),
            "tonnes": rng.gamma(4.0, 3.0, LOADS).round(2),
            "wet": rng.normal(14.2, 1.2, LOADS).round(1),
        }
    )


def paid(notes, deliveries):
    for load in deliveries:
        prices = notes.drop_duplicates(["since", "grain"]).sort_values("since")
        priced = pd.merge_asof(load, prices, left_on="came", right_on="since", by="grain")
        yield priced.dropna(subset=["euros"])


def paid_fixed(notes, deliveries):
    prices = notes.drop_duplicates(["since", "grain"]).sort_values("since")
    for load in deliveries:
        priced = pd.merge_asof(load, prices, left_on="came", right_on="since", by="grain")
        yield priced.dropna(subset=["euros"])


def settle(priced):
    """What the elevator pays out, less the drying of wet grain."""
    dry = (priced["wet"] - 14.0).clip(lower=0) * 4.2
    due = priced["tonnes"] * (priced["euros"] - dry)
    return due.groupby(priced["grain"]).sum()


def one_pass(number, step):
    rng = np.random.default_rng(number)
    start = pd.Timestamp(2006 + number % 17, 7, 1 + number % 20)
    notes = price_notes(rng, start)
    sums = [settle(priced) for priced in step(notes, [loads(rng, start) for _ in range(ELEVATORS)])]
    table = pd.concat(sums, axis=1).sum(axis=1)
    return len(notes), [(grain, float(euros)) for grain, euros in table.items()]


if __name__ == "__main__":
    run(one_pass, paid, paid_fixed)
