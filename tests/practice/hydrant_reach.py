# SPDX-License-Identifier: Apache-2.0
"""A fire brigade's map: the nearest hydrant of every house, hoses to bring, and the streets where new hydrants are dug."""

import numpy as np
from scipy.spatial import KDTree

from common import run

HYDRANTS, STREETS = 260, 40
HOSE, REACH = 20.0, 110.0


def town(rng):
    """Streets are lines over the map, their houses stand on either side of them."""
    starts = rng.uniform(0, 3_000, (STREETS, 2))
    turns = rng.uniform(0, 2 * np.pi, STREETS)
    heading = np.column_stack([np.cos(turns), np.sin(turns)])
    for street in range(STREETS):
        along = np.sort(rng.uniform(0, 900, int(rng.integers(8, 26))))
        side = rng.choice([-12.0, 12.0], along.size)
        across = np.array([-heading[street, 1], heading[street, 0]])
        yield "street %02d" % street, starts[street] + along[:, None] * heading[street] + side[:, None] * across


def nearest(tree, houses):
    found = [tree.query(house) for house in houses]
    return np.array([away for away, _ in found]), np.array([number for _, number in found])


def nearest_fixed(tree, houses):
    return tree.query(houses)


class Map:
    def __init__(self, hydrants, flows, nearest):
        self.hydrants = hydrants
        self.flows = flows
        self.nearest = nearest
        self.used = np.zeros(len(hydrants), dtype=int)
        self.rows = []
        self.sites = []

    def hoses(self, away):
        """Whole lengths of hose, a tenth more for what is in the way."""
        return np.ceil(1.1 * away / HOSE).astype(int)

    def pressure(self, away, numbers):
        """What is left at the nozzle after the friction in the hoses."""
        flow = self.flows[numbers]
        loss = 2e-8 * flow**1.85 * away
        return np.maximum(6.0 - loss, 0.0)

    def rise(self, houses):
        """Metres of the ground over the fountain square, by the two hills of the town."""
        west = 40 * np.exp(-(((houses - (600, 2_200)) / 500) ** 2).sum(axis=1))
        east = 25 * np.exp(-(((houses - (2_300, 900)) / 700) ** 2).sum(axis=1))
        return west + east

    def clusters(self, houses):
        """Runs of neighbours out of reach: each is given one new site in its middle."""
        run = [houses[0]]
        for before, house in zip(houses, houses[1:]):
            if np.hypot(*(house - before)) > 90:
                yield np.mean(run, axis=0)
                run = []
            run.append(house)
        yield np.mean(run, axis=0)

    def street(self, name, houses):
        away, numbers = self.nearest(self.tree, houses)
        np.add.at(self.used, numbers, 1)
        bars = self.pressure(away, numbers) - self.rise(houses) / 10.2
        weak = (away > REACH) | (bars < 2.5)
        hoses = self.hoses(away)
        self.rows.append((name, len(houses), int(hoses.sum()), int(weak.sum()), float(bars.mean())))
        if weak.any():
            self.sites += [(name, float(x), float(y)) for x, y in self.clusters(houses[weak])]

    def survey(self, streets):
        self.tree = KDTree(self.hydrants)
        for name, houses in streets:
            self.street(name, houses)

    def report(self):
        worst = sorted(self.rows, key=lambda row: (-row[3] / row[1], row[0]))
        return ["%s: %3d houses, %4d hoses, %2d out of reach, %.2f bar" % row for row in worst[:3]]


def one_pass(number, nearest):
    rng = np.random.default_rng(number)
    chart = Map(rng.uniform(-200, 3_200, (HYDRANTS, 2)), rng.uniform(400, 1_900, HYDRANTS), nearest)
    chart.survey(town(rng))
    busiest = int(chart.used.max()), int((chart.used == 0).sum())
    return chart.report(), busiest, len(chart.sites), sum(x + y for _, x, y in chart.sites)


if __name__ == "__main__":
    run(one_pass, nearest, nearest_fixed)
