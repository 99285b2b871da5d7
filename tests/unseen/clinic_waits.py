# SPDX-License-Identifier: Apache-2.0
"""Waits in a town's clinics: the spread of each clinic's hours, the worst quarters and a table for the board."""

import numpy as np
import pandas as pd

from runner import run

CLINICS = ["Bridge", "Castle", "Dock", "East", "Ford", "Green", "Hill", "Island", "Kiln", "Lock"]
VISITS = 6000


def visits(seed):
    rng = np.random.default_rng(seed)
    clinic = rng.integers(0, len(CLINICS), VISITS)
    minute = np.sort(rng.integers(0, 28 * 600, VISITS))
    called = rng.gamma(2.0, 9.0 + 3 * clinic)
    seen = called + rng.gamma(3.0, 4.0, VISITS)
    start = pd.Timestamp(2008 + seed % 16, 1 + seed % 12, 1, 8)
    return pd.DataFrame(
        {
            "clinic": pd.Categorical.from_codes(clinic, CLINICS),
            "came": start + pd.to_timedelta(minute // 600 * 1440 + minute % 600, unit="min"),
            "called": called.round(1),
            "seen": seen.round(1),
            "urgent": rng.random(VISITS) < 0.07,
        }
    )


def spread(waits):
    return waits.agg(lambda wait: wait.max() - wait.min())


def spread_fixed(waits):
    return waits.max() - waits.min()


def worst_quarters(frame):
    """The quarters of an hour with the longest mean wait among those with three visits or more."""
    by_quarter = frame.groupby(["clinic", pd.Grouper(key="came", freq="15min")])["called"].agg(["mean", "size"])
    return by_quarter[by_quarter["size"] >= 3].nlargest(5, "mean")


def board(frame):
    frame = frame.assign(
        treated=frame["seen"] - frame["called"],
        late=(frame["called"] > 30) & ~frame["urgent"],
        weekday=frame["came"].dt.day_of_week,
    )
    return frame.pivot_table(index="clinic", columns="weekday", values=["treated", "late"], aggfunc="mean")


def one_pass(number, step):
    frame = visits(number)
    frame["day"] = frame["came"].dt.day
    spreads = step(frame.groupby(["clinic", "day"])["called"])
    worst = worst_quarters(frame)
    table = board(frame)
    return (
        len(spreads),
        float(spreads.mean()),
        spreads.idxmax(),
        [float(mean) for mean in worst["mean"]],
        [float(value) for value in table.mean()],
    )


if __name__ == "__main__":
    run(one_pass, spread, spread_fixed)
