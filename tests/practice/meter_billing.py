# SPDX-License-Identifier: Apache-2.0
"""Bills for electricity: readings by customer against a tariff by hour and zone."""

import numpy as np
import pandas as pd

from common import run

ZONES = ["north", "coast", "hills", "city"]


def make_tariff(rng):
    table = pd.MultiIndex.from_product([ZONES, range(24), range(7)], names=["zone", "hour", "weekday"]).to_frame()
    table = table.reset_index(drop=True)
    table["price"] = np.round(rng.uniform(0.08, 0.45, len(table)), 4)
    table["levy"] = np.round(rng.uniform(0.01, 0.03, len(table)), 4)
    return table.sample(frac=1, random_state=int(rng.integers(1 << 30)))


def make_readings(rng, customers):
    size = 336
    for name in range(customers):
        since = pd.Timestamp("2024-01-01") + pd.Timedelta(days=int(rng.integers(340)))
        hours = pd.date_range(since, periods=size, freq="h")
        frame = pd.DataFrame({"time": hours, "kwh": rng.gamma(2.0, 0.4, size)})
        frame["zone"] = ZONES[int(rng.integers(len(ZONES)))]
        yield "customer-%03d" % name, frame


def keys_of(frame):
    clock = frame["time"].dt
    return pd.MultiIndex.from_arrays([frame["zone"], clock.hour, clock.day_of_week])


def charge(frame, prices):
    found = prices.reindex(keys_of(frame))
    cost = frame["kwh"].to_numpy() * (found["price"] + found["levy"]).to_numpy()
    by_day = pd.Series(cost, index=frame["time"]).resample("D").sum()
    return float(by_day.sum()), float(by_day.max())


def bill(readings, tariff):
    bills = {}
    for name, frame in readings:
        prices = tariff.set_index(["zone", "hour", "weekday"]).sort_index()
        bills[name] = charge(frame, prices)
    return bills


def bill_fixed(readings, tariff):
    bills = {}
    prices = tariff.set_index(["zone", "hour", "weekday"]).sort_index()
    for name, frame in readings:
        bills[name] = charge(frame, prices)
    return bills


def one_pass(number, make_bills):
    rng = np.random.default_rng(number)
    tariff = make_tariff(rng)
    return [list(row) for row in make_bills(make_readings(rng, 25), tariff).values()]


if __name__ == "__main__":
    run(one_pass, bill, bill_fixed)
