# SPDX-License-Identifier: Apache-2.0
"""Shares a day's parcels out among couriers by nearness and load, then orders every round."""

import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.sparse.csgraph import minimum_spanning_tree
from scipy.spatial import cKDTree
from scipy.spatial.distance import pdist, squareform

from runner import run

PARCELS, DEPOTS, COURIERS = 6_000, 12, 60


def city(seed):
    rng = np.random.default_rng(seed)
    blocks = rng.uniform(0, 20, (40, 2))
    doors = blocks[rng.integers(0, 40, PARCELS)] + rng.normal(0, 0.8, (PARCELS, 2))
    weight = rng.gamma(1.5, 1.2, PARCELS)
    return doors, weight, rng.uniform(2, 18, (DEPOTS, 2)), rng.uniform(0, 20, (COURIERS, 2))


def zones(doors, depots):
    return cKDTree(depots).query(doors)[1]


def batches(doors, zone, size):
    """The parcels of each zone, split by angle about its middle."""
    for depot in range(DEPOTS):
        mine = np.flatnonzero(zone == depot)
        if len(mine) == 0:
            continue
        off = doors[mine]
        off -= off.mean(axis=0)
        turn = mine[np.argsort(np.arctan2(off[:, 1], off[:, 0]))]
        yield from np.array_split(turn, -(-len(turn) // size))


def matched(middles, homes):
    cost = np.linalg.norm(middles[:, None] - homes[None], axis=2)
    rows, columns = linear_sum_assignment(cost)
    return float(cost[rows, columns].sum()), columns


def length(doors):
    """A tree through all doors, doubled: no round is longer."""
    return 2 * minimum_spanning_tree(squareform(pdist(doors))).sum()


def one_pass(number, step):
    doors, weight, depots, homes = city(number)
    rounds = list(batches(doors, zones(doors, depots), 150))
    places = [doors[stops] for stops in rounds]
    middles = np.array([place.mean(axis=0) for place in places])
    way, who = matched(middles, homes)
    lengths = np.array([length(place) for place in places])
    loads = np.array([weight[stops].sum() for stops in rounds])
    return len(rounds), way, float(lengths.sum()), float(loads.max()), who[:5].tolist()


if __name__ == "__main__":
    run(one_pass)
