# SPDX-License-Identifier: Apache-2.0
"""Weekly roll-up of till receipts by shop and article, with whole-column operations."""

import numpy as np
import pandas as pd

from common import run

SHOPS = 40
ARTICLES = 300


def make_receipts(seed, rows):
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "shop": rng.integers(0, SHOPS, rows),
            "article": (rng.pareto(1.3, rows) * 10).astype(int) % ARTICLES,
            "units": rng.integers(1, 6, rows),
            "cents": rng.integers(50, 9000, rows),
            "when": pd.Timestamp("2022-05-02") + pd.to_timedelta(rng.integers(0, 7 * 86400, rows), unit="s"),
        }
    )


def make_articles(seed):
    rng = np.random.default_rng(seed)
    group = rng.integers(0, 12, ARTICLES)
    tax = rng.choice([0.07, 0.19], ARTICLES)
    return pd.DataFrame({"article": np.arange(ARTICLES), "group": group, "tax": tax})


def enrich(receipts, articles):
    full = receipts.merge(articles, on="article", how="left")
    full["gross"] = full["units"] * full["cents"]
    full["tax_cents"] = (full["gross"] * full["tax"] / (1 + full["tax"])).round()
    full["hour"] = full["when"].dt.hour
    return full


def by_shop(full):
    grouped = full.groupby("shop").agg(gross=("gross", "sum"), tax=("tax_cents", "sum"), bills=("gross", "size"))
    grouped["share"] = grouped["gross"] / grouped["gross"].sum()
    return grouped.sort_values("gross", ascending=False)


def busiest_hours(full):
    counts = full.pivot_table(index="shop", columns="hour", values="gross", aggfunc="size", fill_value=0)
    return counts.idxmax(axis=1)


def slow_movers(full, least=3):
    sold = full.groupby(["shop", "article"])["units"].sum()
    return sold[sold < least].groupby(level="shop").size()


def one_pass(number, _):
    full = enrich(make_receipts(number, 150_000), make_articles(number))
    shops = by_shop(full)
    return float(shops["tax"].sum()), int(busiest_hours(full).sum()), int(slow_movers(full).sum())


if __name__ == "__main__":
    run(one_pass)
