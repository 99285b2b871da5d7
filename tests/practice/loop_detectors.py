# SPDX-License-Identifier: Apache-2.0
"""Loops in a motorway's lanes: a file too long to hold is read in parts, whose sums of each quarter of an hour are put together at the end."""

import io

import numpy as np
import pandas as pd

from common import run

ROWS = 30_000
PART = 5_000
SITES = 6
LANES = 3


def make_file(rng):
    """One line for each vehicle, in order of time, as the roadside units send them."""
    second = np.sort(rng.uniform(0, 6 * 3600, ROWS))
    site = rng.integers(0, SITES, ROWS)
    lane = rng.choice(LANES, ROWS, p=(0.45, 0.35, 0.2))
    jam = 1 - 0.7 * np.exp(-(((second / 3600 - 3 - site / 6) / 0.5) ** 2))
    speed = np.clip(rng.normal((90 + 12 * lane) * jam, 9), 3, None)
    length = np.where(rng.random(ROWS) < 0.15 - 0.06 * lane, rng.normal(14, 2, ROWS), rng.normal(4.6, 0.5, ROWS))
    broken = rng.random(ROWS) < 0.01
    speed[broken] = -1
    columns = [values.tolist() for values in (second, site, lane, speed, length)]
    lines = ["%.1f,%d,%d,%.1f,%.2f" % row for row in zip(*columns)]
    return "second,site,lane,speed,length\n" + "\n".join(lines) + "\n"


def tidy(part):
    """Readings that failed go; densities need the harmonic mean, so slowness is kept too."""
    part = part[part["speed"] > 0]
    return part.assign(quarter=(part["second"] // 900).astype(int), slowness=1 / part["speed"], lorry=part["length"] > 8)


def sums(part):
    return part.groupby(["site", "lane", "quarter"], sort=False).agg(
        vehicles=("speed", "size"), speed=("speed", "sum"), slowness=("slowness", "sum"), lorries=("lorry", "sum")
    )


def collect(file):
    """A quarter of an hour may lie in two parts: its sums are added once all are there."""
    found = [sums(tidy(part)) for part in pd.read_csv(file, chunksize=PART)]
    return pd.concat(found).groupby(level=[0, 1, 2]).sum()


def across(table):
    """Flow, speed and density of the whole road at each site."""
    whole = table.groupby(level=["site", "quarter"]).sum()
    flow = 4 * whole["vehicles"]
    return pd.DataFrame(
        {
            "flow": flow,
            "speed": whole["speed"] / whole["vehicles"],
            "density": flow * whole["slowness"] / whole["vehicles"],
            "lorries": whole["lorries"] / whole["vehicles"],
        }
    )


def worst(road):
    """The densest quarter of an hour of each site, and the greatest flow before it."""
    lines = []
    for site, quarters in road.groupby(level="site"):
        dense = int(np.argmax(quarters["density"].to_numpy()))
        flows = quarters["flow"].to_numpy()[: dense + 1]
        lines.append([int(site), dense, int(flows.max()), float(quarters["speed"].iloc[dense])])
    return lines


def one_pass(number, _):
    rng = np.random.default_rng(number)
    road = across(collect(io.StringIO(make_file(rng))))
    return worst(road), float(road["lorries"].mean())


if __name__ == "__main__":
    run(one_pass)
