# SPDX-License-Identifier: Apache-2.0
"""The night report on a parcel network's hubs: dwell times, belts' load by the hour, parcels left lying."""

import numpy as np
import pandas as pd

from common import run

HUBS = np.array(["H%03d" % k for k in range(90)])


def scans(seed):
    rng = np.random.default_rng(seed)
    many = 9_000
    arrived = np.sort(rng.uniform(0, 24 * 60, many))
    dwell = rng.gamma(2.0, 45.0, many)
    return pd.DataFrame(
        {
            "parcel": rng.integers(10**8, 10**9, many),
            "hub": rng.choice(HUBS, many),
            "arrived": arrived,
            "left": arrived + dwell,
            "kilos": np.round(rng.lognormal(0.8, 0.9, many), 2),
        }
    )


def by_hub(frame):
    for hub in sorted(frame["hub"].unique()):
        yield hub, frame[frame["hub"] == hub]


def by_hub_fixed(frame):
    yield from frame.groupby("hub", sort=True)


def load(arrived, left):
    """Most parcels that lay in the hub at one time, by arrivals and departures in order."""
    times = np.concatenate((arrived, left))
    signs = np.repeat((1, -1), len(arrived))
    return int(np.cumsum(signs[np.argsort(times, kind="stable")]).max())


def summary(hub, part):
    arrived, left = part["arrived"].to_numpy(), part["left"].to_numpy()
    dwell = pd.Series(left - arrived, index=part.index)
    late = part.loc[dwell > dwell.quantile(0.95), "parcel"]
    hours = np.bincount((arrived // 60).astype(int), minlength=24)
    return {
        "hub": hub,
        "parcels": len(part),
        "median": dwell.median(),
        "peak": load(arrived, left),
        "busiest": int(hours.argmax()),
        "late": int(late.max()) if len(late) else 0,
        "heavy": float(part["kilos"].nlargest(3).sum()),
    }


def one_pass(number, split):
    frame = scans(number)
    report = pd.DataFrame([summary(hub, part) for hub, part in split(frame)])
    report = report.sort_values(["peak", "hub"], ascending=[False, True])
    share = report["parcels"] / report["parcels"].sum()
    worst = report.iloc[0]
    return (
        worst["hub"],
        int(worst["peak"]),
        int(report["late"].sum() % 10**6),
        float(share.max()),
        float(report["median"].mean()),
        float(report["heavy"].sum()),
    )


if __name__ == "__main__":
    run(one_pass, by_hub, by_hub_fixed)
