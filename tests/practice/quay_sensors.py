# SPDX-License-Identifier: Apache-2.0
"""Room under the keel at a port's berths: each berth's gauge is read at its own times and joined to the ships that lay there."""

import numpy as np
import pandas as pd

from common import run

START = pd.Timestamp("2024-09-01")
BERTHS = 5


class Berth:
    def __init__(self, rng, number):
        self.number = number
        self.depth = rng.uniform(12, 14)
        minutes = np.cumsum(rng.integers(3, 15, 1500))
        tide = 1.8 * np.sin(minutes / 745 * 2 * np.pi + number / 7) + 0.3 * np.sin(minutes / 1440 * 2 * np.pi)
        water = tide + rng.normal(0, 0.05, len(minutes))
        water[rng.random(len(water)) < 0.02] = np.nan
        self.gauge = pd.DataFrame({"time": START + pd.to_timedelta(minutes, unit="min"), "water": water})

    def tidied(self):
        """Gaps are bridged by time; waves are smoothed away."""
        level = self.gauge.set_index("time")["water"].interpolate("time").bfill()
        smooth = level.rolling("45min").median()
        return pd.DataFrame({"water": smooth, "fall": smooth.diff().fillna(0.0)}).reset_index()

    def calls(self, rng):
        count = int(rng.integers(25, 40))
        arrive = np.sort(rng.choice(np.arange(500, 9_000, 7), count, replace=False))
        stay = rng.integers(180, 900, count)
        return pd.DataFrame(
            {
                "ship": ["ship %d-%d" % (self.number, at) for at in range(count)],
                "arrive": START + pd.to_timedelta(arrive, unit="min"),
                "leave": START + pd.to_timedelta(arrive + stay, unit="min"),
                "draught": rng.uniform(6, 10, count).round(1),
            }
        )


def joined(berth, calls):
    """What the water was when a ship came, when she left, and at its lowest between."""
    level = berth.tidied()
    came = pd.merge_asof(calls, level, left_on="arrive", right_on="time", tolerance=pd.Timedelta("30min"))
    left = pd.merge_asof(calls.sort_values("leave"), level, left_on="leave", right_on="time").sort_index()
    first = np.searchsorted(level["time"], calls["arrive"])
    last = np.searchsorted(level["time"], calls["leave"])
    edges = np.column_stack((first, np.maximum(last, first + 1))).ravel()
    lowest = np.minimum.reduceat(level["water"].to_numpy(), edges)[::2]
    room = berth.depth + lowest - calls["draught"].to_numpy()
    return came.assign(left=left["water"].to_numpy(), room=room, berth=berth.number)


def one_pass(number, _):
    rng = np.random.default_rng(number)
    parts = []
    for at in range(BERTHS):
        berth = Berth(rng, at)
        parts.append(joined(berth, berth.calls(rng)))
    stays = pd.concat(parts, ignore_index=True)
    tight = stays[stays["room"] < 0.8].nsmallest(5, "room")
    by_berth = stays.groupby("berth").agg(ships=("ship", "size"), least=("room", "min"), fall=("fall", "mean"))
    return tight["ship"].tolist(), by_berth["ships"].tolist(), by_berth["least"].tolist(), float(stays["left"].mean())


if __name__ == "__main__":
    run(one_pass, None)
