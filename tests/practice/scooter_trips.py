# SPDX-License-Identifier: Apache-2.0
"""Nightly features of a scooter hire's trips: steps registered by name clean the table, join zones, add distances and roll it up by zone."""

import math

import numpy as np
import pandas as pd

from common import run

STEPS = []
EARTH = 6_371_000.0


def step(order):
    """Registers a step of the pipeline; steps run by their order."""

    def enter(function):
        STEPS.append((order, function))
        STEPS.sort(key=lambda entry: entry[0])
        return function

    return enter


class Geometry:
    """Distances and directions of a table of trips."""

    def metres(self, trip):
        a, b = math.radians(trip["from_lat"]), math.radians(trip["to_lat"])
        across = math.radians(trip["to_lon"] - trip["from_lon"]) * math.cos((a + b) / 2)
        return EARTH * math.hypot(b - a, across)

    def distances(self, trips):
        return trips.apply(self.metres, axis=1)

    def heading(self, trips):
        turned = np.arctan2(trips["to_lon"] - trips["from_lon"], trips["to_lat"] - trips["from_lat"])
        return (np.degrees(turned) % 360 // 45).astype(int)


class GeometryFixed(Geometry):
    def distances(self, trips):
        a, b = np.radians(trips["from_lat"]), np.radians(trips["to_lat"])
        across = np.radians(trips["to_lon"] - trips["from_lon"]) * np.cos((a + b) / 2)
        return EARTH * np.hypot(b - a, across)


class Context:
    def __init__(self, geometry, zones):
        self.geometry = geometry
        self.zones = zones
        self.dropped = 0


@step(10)
def clean(context, trips):
    good = trips["minutes"].between(1, 180) & trips["from_lat"].notna() & trips["rider"].ne("")
    context.dropped = int((~good).sum())
    return trips[good].reset_index(drop=True)


@step(20)
def zones(context, trips):
    for end in ("from", "to"):
        cell = (trips[end + "_lat"] * 50).astype(int) * 1_000 + (trips[end + "_lon"] * 50).astype(int)
        trips[end + "_zone"] = cell.map(context.zones).fillna("outside")
    return trips


@step(30)
def shape(context, trips):
    trips["metres"] = context.geometry.distances(trips)
    trips["octant"] = context.geometry.heading(trips)
    trips["pace"] = trips["metres"] / trips["minutes"]
    return trips


@step(40)
def riders(context, trips):
    trips = trips.sort_values(["rider", "start"], kind="stable")
    again = trips.groupby("rider")["start"].diff().dt.total_seconds().div(3_600)
    trips["since"] = again.fillna(-1.0)
    trips["turn"] = trips.groupby("rider").cumcount()
    return trips


@step(50)
def odd(context, trips):
    middle = trips.groupby("from_zone")["pace"].transform("median")
    spread = trips.groupby("from_zone")["pace"].transform("std").fillna(1.0)
    trips["odd"] = (trips["pace"] - middle).abs() > 2.5 * spread
    return trips


def rollup(trips):
    hours = trips.assign(hour=trips["start"].dt.hour // 4)
    table = hours.pivot_table(index="from_zone", columns="hour", values="metres", aggfunc="mean", fill_value=0.0)
    flows = trips.groupby(["from_zone", "to_zone"]).agg(trips=("rider", "size"), pace=("pace", "mean"), odd=("odd", "sum"))
    return table, flows.sort_values("trips", ascending=False, kind="stable")


def night(number, count=600):
    rng = np.random.default_rng(number)
    trips = pd.DataFrame(
        {
            "rider": rng.choice(["r%03d" % at for at in range(150)] + [""], count),
            "start": pd.Timestamp("2024-05-01") + pd.to_timedelta(rng.integers(0, 86_400, count), unit="s"),
            "minutes": rng.gamma(2.0, 9.0, count),
        }
    )
    for end in ("from", "to"):
        trips[end + "_lat"] = 52.5 + rng.normal(0, 0.04, count)
        trips[end + "_lon"] = 13.4 + rng.normal(0, 0.05, count)
    trips.loc[rng.choice(count, 9, replace=False), "from_lat"] = np.nan
    names = {row * 1_000 + column: "Z%d" % ((row * 7 + column) % 11) for row in range(2_618, 2_632) for column in range(662, 678)}
    return trips, names


def one_pass(number, geometry):
    trips, names = night(number)
    context = Context(geometry(), names)
    for _, work in STEPS:
        trips = work(context, trips)
    table, flows = rollup(trips)
    return context.dropped, table.to_numpy().sum(axis=0).tolist(), flows.head(8)["pace"].tolist(), int(flows["odd"].sum())


if __name__ == "__main__":
    run(one_pass, Geometry, GeometryFixed)
