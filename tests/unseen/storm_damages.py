# SPDX-License-Identifier: Apache-2.0
"""An insurer's claims after each storm of a winter: how many, how dear, how soon, from the clerks' list."""

import numpy as np
import pandas as pd

from runner import run

CLAIMS = 6000
STORMS = 18
KINDS = ["roof", "fence", "glass", "cellar", "car"]


def winter(seed):
    rng = np.random.default_rng(seed)
    start = pd.Timestamp(2001 + seed % 20, 10, 1)
    storms = start + pd.to_timedelta(np.sort(rng.integers(0, 170 * 24, STORMS)), unit="h")
    damaged = start + pd.to_timedelta(rng.integers(0, 180 * 24 * 3600, CLAIMS), unit="s")
    claims = pd.DataFrame(
        {
            "damaged": np.datetime_as_string(damaged.to_numpy(), unit="s"),
            "kind": rng.choice(KINDS, CLAIMS),
            "amount": np.round(rng.lognormal(6.5, 1.1, CLAIMS), 2),
            "told_after": rng.exponential(5, CLAIMS),
        }
    )
    return claims, storms


def aftermath(claims, storm, hours, when):
    inside = claims[(when >= storm) & (when < storm + pd.Timedelta(hours=hours))]
    if inside.empty:
        return 0, 0.0, 0.0, ""
    kinds = inside.groupby("kind")["amount"].sum()
    slow = inside["told_after"].quantile(0.9)
    return len(inside), float(kinds.sum()), float(slow), str(kinds.idxmax())


def tell(claims, storms):
    rows = []
    for number, storm in enumerate(storms):
        when = pd.to_datetime(claims["damaged"], format="%Y-%m-%dT%H:%M:%S")
        rows.append(aftermath(claims, storm, 48 + 6 * (number % 5), when))
    return rows


def tell_fixed(claims, storms):
    rows = []
    when = pd.to_datetime(claims["damaged"], format="%Y-%m-%dT%H:%M:%S")
    for number, storm in enumerate(storms):
        rows.append(aftermath(claims, storm, 48 + 6 * (number % 5), when))
    return rows


def reserve(rows):
    """What to set aside: the mean of the three dearest storms, and a fifth for each slow one."""
    dear = sorted((amount for _, amount, _, _ in rows), reverse=True)[:3]
    slow = sum(days > 12 for _, _, days, _ in rows)
    return sum(dear) / len(dear) * (1 + 0.2 * slow)


def one_pass(number, step):
    claims, storms = winter(number)
    rows = step(claims, storms)
    return rows[3], max(rows), sum(count for count, _, _, _ in rows), reserve(rows)


if __name__ == "__main__":
    run(one_pass, tell, tell_fixed)
