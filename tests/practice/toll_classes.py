# SPDX-License-Identifier: Apache-2.0
"""Tolls of a motorway's lanes, by class of vehicle and hour."""

import numpy as np
import pandas as pd
from common import run

RATES = np.array([1.2, 2.9, 4.4, 7.5])


def make_passages(rng, count):
    return pd.DataFrame(
        {
            "lane": rng.integers(0, 12, count),
            "axles": rng.integers(0, 4, count),
            "kilometres": np.round(rng.gamma(3, 14, count), 1),
            "hour": rng.integers(0, 24, count),
            "tagged": rng.random(count) < 0.7,
        }
    )


def toll(row):
    price = RATES[int(row["axles"])] + 0.11 * row["kilometres"]
    if 7 <= row["hour"] < 10:
        price *= 1.4
    return price * 0.9 if row["tagged"] else price


def tolls(passages):
    return passages.apply(toll, axis=1)


def tolls_fixed(passages):
    price = RATES[passages["axles"].to_numpy()] + 0.11 * passages["kilometres"]
    price = price * np.where(passages["hour"].between(7, 9), 1.4, 1.0)
    return price * np.where(passages["tagged"], 0.9, 1.0)


def queues(passages):
    ordered = passages.sort_values(["lane", "hour", "kilometres"])
    ordered["ahead"] = ordered.groupby(["lane", "hour"]).cumcount()
    table = ordered.pivot_table(index="lane", columns="hour", values="ahead", aggfunc="max", fill_value=0)
    return int(table.to_numpy().sum())


def one_pass(number, make_tolls):
    rng = np.random.default_rng(number)
    results = []
    for _ in range(8):
        passages = make_passages(rng, 900)
        passages["toll"] = make_tolls(passages)
        results.append([round(float(total), 4) for total in passages.groupby("lane")["toll"].sum()])
        results.append(queues(passages))
    return results


if __name__ == "__main__":
    run(one_pass, tolls, tolls_fixed)
