# SPDX-License-Identifier: Apache-2.0
"""What each customer of a shop may still spend of the points that last ninety days."""

from collections import deque

import numpy as np
import pandas as pd

from common import run

CUSTOMERS, ORDERS = 130, 12_000
LASTS = 90


def shop(seed):
    rng = np.random.default_rng(seed)
    names = np.array(["C%05d" % (seed * CUSTOMERS + i) for i in range(CUSTOMERS)])
    day = np.sort(rng.integers(0, 365, ORDERS))
    return pd.DataFrame(
        {
            "customer": names[rng.integers(0, CUSTOMERS, ORDERS)],
            "day": day,
            "paid": rng.gamma(2.0, 18.0, ORDERS).round(2),
            "redeemed": np.where(rng.random(ORDERS) < 0.15, rng.integers(10, 80, ORDERS), 0),
        }
    )


def balance(days, earned, redeemed):
    """First in, first out: what is used comes off the oldest points that are left."""
    wallet, lost = deque(), 0
    for day, more, used in zip(days, earned, redeemed):
        while wallet and wallet[0][0] < day - LASTS:
            lost += wallet.popleft()[1]
        while used and wallet:
            since, points = wallet.popleft()
            if points > used:
                wallet.appendleft((since, points - used))
                used = 0
            else:
                used -= points
        wallet.append((day, more))
    return sum(points for _, points in wallet), lost


def statement(customer, orders):
    paid = orders["paid"].to_numpy()
    earned = np.floor(paid / 2).astype(int)
    left, lost = balance(orders["day"].tolist(), earned.tolist(), orders["redeemed"].tolist())
    weekly = np.bincount(orders["day"] // 7, weights=paid)
    return {
        "customer": customer,
        "left": left,
        "lost": lost,
        "best_week": weekly.max(),
        "typical": np.median(paid),
    }


def statements(orders):
    out = []
    for customer in orders["customer"].unique():
        own = orders[orders["customer"] == customer]
        out.append(statement(customer, own))
    return pd.DataFrame(out)


def statements_fixed(orders):
    out = []
    for customer, own in orders.groupby("customer", sort=False):
        out.append(statement(customer, own))
    return pd.DataFrame(out)


def one_pass(number, report):
    sheet = report(shop(number))
    tiers = pd.cut(sheet["left"], [-1, 50, 150, 400, np.inf], labels=["wood", "tin", "silver", "gold"])
    return (
        int(sheet["left"].sum()),
        int(sheet["lost"].sum()),
        float(sheet["best_week"].sum()),
        float(sheet["typical"].mean()),
        tiers.value_counts().sort_index().tolist(),
        sheet["customer"].iloc[:3].tolist(),
    )


if __name__ == "__main__":
    run(one_pass, statements, statements_fixed)
