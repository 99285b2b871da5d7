# SPDX-License-Identifier: Apache-2.0
"""District heating: from the loggers of many houses, how often burners start, and how evenly rooms are kept."""

import numpy as np
import pandas as pd

from common import run

HOUSES, HOURS = 60, 120


def make_log(seed):
    rng = np.random.default_rng(seed)
    minutes = np.arange(0, HOURS * 60, 15)
    outside = 2 + 5 * np.sin(minutes / 229.0) + rng.normal(0, 0.2, len(minutes)).cumsum() * 0.2
    swing = np.sin(minutes / rng.uniform(15, 60, (HOUSES, 1)))
    room = 20 + 0.08 * outside + 2.2 * swing + rng.normal(0, 0.035, swing.shape).cumsum(axis=1)
    log = pd.DataFrame(
        {
            "house": np.repeat(np.arange(HOUSES), len(minutes)),
            "minute": np.tile(minutes, HOUSES),
            "room": room.ravel(),
            "outside": np.tile(outside, HOUSES),
        }
    )
    return log[rng.random(len(log)) > 0.03]


def starts(room):
    """Burner starts of a thermostat with two edges, which must rest for three readings."""
    on, rest, count = False, 0, 0
    for value in room.to_numpy().tolist():
        rest = max(rest - 1, 0)
        if on and value > 20.8:
            on, rest = False, 3
        elif not on and value < 19.4 and not rest:
            on = True
            count += 1
    return count


def warmed(room):
    """The room as its thick wall feels it; a wall gives off less than it takes, and never below the frost guard."""
    wall = 18.0
    for value in room.to_numpy().tolist():
        step = value - wall
        wall = max(wall + (0.06 * step if step > 0 else 0.02 * step), 16.0)
    return wall


def table_of(log):
    houses = log.groupby("house").agg(
        starts=("room", starts),
        wall=("room", warmed),
        mean=("room", "mean"),
        low=("room", "min"),
        spread=("room", "std"),
        readings=("minute", "size"),
    )
    houses["gap"] = log.groupby("house")["minute"].diff().groupby(log["house"]).max()
    return houses


def nights(log):
    night = log[(log["minute"] % 1440 < 360)]
    means = night.groupby(["house", night["minute"] // 1440])["room"].mean().unstack()
    return float((means.max(axis=1) - means.min(axis=1)).mean())


def one_pass(number, _):
    log = make_log(number)
    houses = table_of(log)
    worst = houses.nlargest(5, "starts")
    loss = np.polyfit(log["outside"], log["room"], 1)[0]
    return [
        worst.index.tolist(),
        int(houses["starts"].sum()),
        float(houses["wall"].mean()),
        float((houses["spread"] / houses["mean"]).max()),
        float(houses["gap"].max()),
        nights(log),
        float(loss),
    ]


if __name__ == "__main__":
    run(one_pass)
