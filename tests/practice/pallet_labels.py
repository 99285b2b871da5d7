# SPDX-License-Identifier: Apache-2.0
"""Shipping labels and a loading list from a table of pallets."""

import zlib

import numpy as np
import pandas as pd

from common import run

PORTS = ["Gdansk", "Izmir", "Leixoes", "Bergen", "Koper", "Varna"]


def make_pallets(rng, count):
    return pd.DataFrame(
        {
            "pallet": ["P%06d" % n for n in rng.integers(0, 10**6, count)],
            "port": rng.choice(PORTS, count),
            "kilos": np.round(rng.gamma(4, 90, count), 1),
            "height": rng.integers(60, 220, count),
            "fragile": rng.random(count) < 0.2,
            "due": pd.Timestamp("2024-05-01") + pd.to_timedelta(rng.integers(0, 60, count), unit="D"),
        }
    )


def label(row):
    text = "%s|%s|%.1f|%d|%s" % (row.pallet, row.port.upper(), row.kilos, row.height, row.due.date().isoformat())
    mark = "FRAGILE " if row.fragile else ""
    return "%s%s-%08x" % (mark, text, zlib.crc32(text.encode()))


def labels(pallets):
    lines = []
    for _, row in pallets.iterrows():
        lines.append(label(row))
    return lines


def labels_fixed(pallets):
    lines = []
    for row in pallets.itertuples(index=False):
        lines.append(label(row))
    return lines


def load_order(pallets):
    ordered = pallets.sort_values(["port", "fragile", "kilos"], ascending=[True, True, False])
    ordered["upto"] = ordered.groupby("port")["kilos"].cumsum()
    ordered["truck"] = (ordered["upto"] // 9000).astype(int)
    return ordered


def summary(ordered):
    table = ordered.groupby(["port", "truck"]).agg(kilos=("kilos", "sum"), top=("height", "max"), due=("due", "min"))
    return [[float(kilos), int(top), str(due)] for kilos, top, due in zip(table["kilos"], table["top"], table["due"])]


def one_pass(number, make_labels):
    rng = np.random.default_rng(number)
    results = []
    for _ in range(3):
        ordered = load_order(make_pallets(rng, 700))
        results += make_labels(ordered)[:3]
        results += summary(ordered)
    return results


if __name__ == "__main__":
    run(one_pass, labels, labels_fixed)
