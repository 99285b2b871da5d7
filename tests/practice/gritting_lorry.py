# SPDX-License-Identifier: Apache-2.0
"""Sends gritting lorries out on a frosty night: the least icy way to each call, while the ice shifts."""

import heapq
import random

from common import run

TOWNS = 500


class Roads:
    def __init__(self, seed):
        self.rnd = random.Random(seed)
        self.ways = [{} for _ in range(TOWNS)]
        for town in range(TOWNS):
            for other in self.rnd.sample(range(TOWNS), 3):
                if other != town:
                    self.ways[town][other] = self.ways[other][town] = self.rnd.uniform(1, 20)
        self.beside = [list(ways) for ways in self.ways]

    def grit(self, way):
        for here, there in zip(way, way[1:]):
            self.ways[here][there] = self.ways[there][here] = 1.0

    def freeze(self):
        for _ in range(200):
            here = self.rnd.randrange(TOWNS)
            there = self.rnd.choice(self.beside[here])
            ice = self.ways[here][there] * self.rnd.uniform(0.9, 1.6)
            self.ways[here][there] = self.ways[there][here] = min(ice, 40.0)

    def way(self, start, goal):
        came = {}
        queue = [(0.0, start, start)]
        while queue:
            cost, here, before = heapq.heappop(queue)
            if here in came:
                continue
            came[here] = before
            if here == goal:
                break
            for there, ice in self.ways[here].items():
                if there not in came:
                    heapq.heappush(queue, (cost + ice, there, here))
        path = [goal]
        while path[-1] != start:
            path.append(came[path[-1]])
        return cost, path[::-1]


def one_pass(number, step):
    roads = Roads(number)
    at, spent, driven = 0, 0.0, 0
    for _ in range(60):
        roads.freeze()
        call = roads.rnd.randrange(1, TOWNS)
        if call == at:
            continue
        cost, way = roads.way(at, call)
        roads.grit(way)
        spent += cost
        driven += len(way) - 1
        at = call
    return at, spent, driven


if __name__ == "__main__":
    run(one_pass)
