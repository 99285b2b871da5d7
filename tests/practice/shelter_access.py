# SPDX-License-Identifier: Apache-2.0
"""Before a storm: households are sent to shelters within reach, the emptiest first; those without any are put on the bus lists."""

import math

import numpy as np
from scipy.spatial import cKDTree

from common import run

REACH = 1.6


class Shelters:
    def __init__(self, rng, count):
        self.places = rng.uniform(0, 12, (count, 2))
        self.beds = rng.integers(60, 400, count).tolist()
        self.taken = [0] * count
        self.tree = cKDTree(self.places)

    def fullness(self, at):
        return self.taken[at] / self.beds[at]

    def offer(self, place, people):
        """The emptiest shelter within reach that has beds for all of a household."""
        if not self.tree.query_ball_point(place, REACH):
            return None
        free = [at for at in self.tree.query_ball_point(place, REACH) if self.taken[at] + people <= self.beds[at]]
        return min(free, key=self.fullness, default=None)


class AskedOnceShelters(Shelters):
    def offer(self, place, people):
        near = self.tree.query_ball_point(place, REACH)
        if not near:
            return None
        free = [at for at in near if self.taken[at] + people <= self.beds[at]]
        return min(free, key=self.fullness, default=None)


class Evacuation:
    def __init__(self, shelters):
        self.shelters = shelters
        self.walks = []
        self.buses = {}
        self.slips = []

    def send(self, name, place, people):
        at = self.shelters.offer(place, people)
        if at is None:
            stop = "stop %d/%d" % (place[0] // 2, place[1] // 2)
            self.buses[stop] = self.buses.get(stop, 0) + people
            return
        self.shelters.taken[at] += people
        east, north = self.shelters.places[at].tolist()
        walk = math.hypot(east - place[0], north - place[1])
        self.walks.append(walk)
        way = ("E", "NE", "N", "NW", "W", "SW", "S", "SE")[round(math.atan2(north - place[1], east - place[0]) / (math.pi / 4)) % 8]
        self.slips.append("%s: %d people, %.1f km %s to shelter %d" % (name, people, walk, way, at))


def one_pass(number, kind):
    rng = np.random.default_rng(number)
    shelters = kind(rng, 120)
    plan = Evacuation(shelters)
    homes = np.concatenate([rng.normal(centre, 1.5, (300, 2)) for centre in rng.uniform(1, 11, (4, 2))])
    sizes = rng.integers(1, 7, len(homes))
    order = np.lexsort((homes[:, 0], -sizes))
    for number, (place, people) in enumerate(zip(homes[order].tolist(), sizes[order].tolist())):
        plan.send("house %d" % number, place, people)
    full = sum(taken >= 0.9 * beds for taken, beds in zip(shelters.taken, shelters.beds))
    return full, sum(plan.walks), len(plan.slips), plan.slips[:2], sorted(plan.buses.items())[:4]


if __name__ == "__main__":
    run(one_pass, Shelters, AskedOnceShelters)
