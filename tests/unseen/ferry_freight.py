# SPDX-License-Identifier: Apache-2.0
"""What a ferry line charges the hauliers for a week of lorries, and which crossings were worth their fuel."""

import numpy as np
import pandas as pd

from runner import run

CROSSINGS = 42
LORRIES = 700
HAULIERS = ["Aalund", "Brix", "Corvo", "Dahl & Son", "Elmer", "Fjordgods"]


def week(seed):
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "crossing": rng.integers(0, CROSSINGS, LORRIES),
            "haulier": rng.choice(HAULIERS, LORRIES),
            "metres": np.round(rng.uniform(6, 25.25, LORRIES), 2),
            "tonnes": np.round(rng.gamma(6, 4, LORRIES), 1),
            "goods": rng.choice(["dry", "cold", "tanker"], LORRIES, p=[0.6, 0.25, 0.15]),
        }
    )


def charge(lorries, tariff):
    """The price of each lorry: deck metres, plug for cold ones, double metres for tankers, heavy axles."""
    prices = []
    for _, lorry in lorries.iterrows():
        price = tariff["metre"] * lorry["metres"]
        if lorry["goods"] == "cold":
            price += tariff["plug"]
        elif lorry["goods"] == "tanker":
            price *= 2
        if lorry["tonnes"] > 40:
            price += tariff["heavy"] * (lorry["tonnes"] - 40)
        prices.append(price)
    return prices


def charge_fixed(lorries, tariff):
    price = tariff["metre"] * lorries["metres"].to_numpy()
    price = np.where(lorries["goods"] == "cold", price + tariff["plug"], price)
    price = np.where(lorries["goods"] == "tanker", price * 2, price)
    return price + tariff["heavy"] * np.maximum(lorries["tonnes"].to_numpy() - 40, 0)


def crossings(lorries, fuel):
    table = lorries.groupby("crossing").agg(
        taken=("price", "sum"), metres=("metres", "sum"), lorries=("price", "size"), heaviest=("tonnes", "max")
    )
    table["left"] = table["taken"] - fuel.reindex(table.index).fillna(0.0)
    table["filled"] = table["metres"] / 520
    return table.sort_values("left")


def accounts(lorries):
    by_goods = lorries.pivot_table(index="haulier", columns="goods", values="price", aggfunc="sum", fill_value=0.0)
    rebate = lorries.groupby("haulier")["metres"].sum().clip(upper=2500) / 2500 * 0.08
    owed = by_goods.sum(axis=1) * (1 - rebate)
    largest = lorries.sort_values(["haulier", "price"]).groupby("haulier").tail(3)
    return owed, largest


def one_pass(number, step):
    rng = np.random.default_rng(10**6 + number)
    tariff = {"metre": 11 + rng.random(), "plug": 38 + 4 * rng.random(), "heavy": 5 + rng.random()}
    lorries = week(number)
    lorries["price"] = step(lorries, tariff)
    fuel = pd.Series(rng.uniform(900, 2900, CROSSINGS))
    table = crossings(lorries, fuel)
    owed, largest = accounts(lorries)
    busiest = lorries.merge(table[["filled"]], left_on="crossing", right_index=True).nlargest(5, "filled")
    return (
        float(table["left"].iloc[0]), int((table["left"] > 0).sum()), [float(value) for value in owed],
        float(largest["price"].sum()), float(busiest["price"].mean()),
    )


if __name__ == "__main__":
    run(one_pass, charge, charge_fixed)
