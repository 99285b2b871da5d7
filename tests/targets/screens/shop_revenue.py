# SPDX-License-Identifier: Apache-2.0
"""What a web shop took in a month, from a table of its orders."""
import numpy as np
import pandas as pd

from rounds import rounds


def month(number):
    rng = np.random.default_rng(number)
    return pd.DataFrame({
        "price": rng.uniform(1, 200, 20000).round(2),
        "quantity": rng.integers(1, 6, 20000),
        "discount": rng.choice([0, 0.05, 0.1], 20000),
        "refunded": rng.random(20000) < 0.03,
    })


def revenue(orders):
    total = 0.0
    for _, order in orders.iterrows():
        if not order["refunded"]:
            total += order["price"] * order["quantity"] * (1 - order["discount"])
    return total


if __name__ == "__main__":
    for number in rounds():
        revenue(month(number))
