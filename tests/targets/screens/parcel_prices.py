# SPDX-License-Identifier: Apache-2.0
"""What each parcel of a day costs to send."""
import numpy as np
import pandas as pd

from rounds import rounds


def parcels(number):
    rng = np.random.default_rng(number)
    return pd.DataFrame({
        "weight": rng.gamma(2, 1.5, 15000),
        "abroad": rng.random(15000) < 0.2,
        "length": rng.uniform(10, 120, 15000),
    })


def price(parcel):
    cost = 3.9 + 0.8 * parcel["weight"]
    if parcel["length"] > 100:
        cost += 5
    return cost * 2.5 if parcel["abroad"] else cost


if __name__ == "__main__":
    for number in rounds():
        day = parcels(number)
        day["price"] = day.apply(price, axis=1)
        day["price"].sum()
