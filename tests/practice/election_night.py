# SPDX-License-Identifier: Apache-2.0
"""Seats of an election night: polling stations report in, each district's seats are shared out, a ticker is written."""

import heapq
import json

import numpy as np

from common import run

LISTS = ["Oak", "Reed", "Heron", "Lantern", "Anchor", "Plough", "Kite", "Harbour", "Meadow", "Bridge"]
LISTS += ["Quarry", "Clover", "Falcon", "Beacon", "Willow", "Ferry", "Mill", "Orchard", "Signal", "Thistle"]
STATIONS, DISTRICTS = 700, 7


def make_returns(seed):
    """Votes by station and list, and the order in which the stations come in."""
    rng = np.random.default_rng(seed)
    liking = rng.dirichlet(np.full(len(LISTS), 0.9), DISTRICTS)
    district = rng.integers(0, DISTRICTS, STATIONS)
    votes = rng.poisson(liking[district] * rng.integers(150, 1600, (STATIONS, 1)))
    return votes, district, rng.permutation(STATIONS)


def counted(votes, station):
    return {name: int(votes[station, k]) for k, name in enumerate(LISTS)}


def counted_fixed(votes, station):
    return dict(zip(LISTS, votes[station].tolist()))


def share_out(totals, seats):
    """Highest averages, divisors 1, 3, 5 and so on."""
    queue = [(-votes, name, 1) for name, votes in totals.items() if votes]
    heapq.heapify(queue)
    won = dict.fromkeys(totals, 0)
    for _ in range(seats):
        _, name, divisor = queue[0]
        won[name] += 1
        heapq.heapreplace(queue, (-totals[name] / (divisor + 2), name, divisor + 2))
    return won


class Night:
    def __init__(self, count):
        self.count = count
        self.totals = [dict.fromkeys(LISTS, 0) for _ in range(DISTRICTS)]
        self.seats = [{} for _ in range(DISTRICTS)]
        self.ticker = []

    def report(self, votes, station, district):
        result = self.count(votes, station)
        totals = self.totals[district]
        for name, number in result.items():
            totals[name] += number
        first = max(result, key=result.get)
        self.ticker.append("%04d %-8s %d" % (station, first, result[first]))

    def project(self, district):
        self.seats[district] = share_out(self.totals[district], 12 + district)
        self.ticker.append(json.dumps({"district": district, **self.seats[district]}, separators=(",", ":")))


def one_pass(number, count):
    votes, district, order = make_returns(number)
    night = Night(count)
    for n, station in enumerate(order.tolist()):
        night.report(votes, station, int(district[station]))
        if n % 25 == 24:
            night.project(int(district[station]))
    for place in range(DISTRICTS):
        night.project(place)
    house = {name: sum(seats[name] for seats in night.seats) for name in LISTS}
    return [house, night.ticker[-12:], sum(map(len, night.ticker))]


if __name__ == "__main__":
    run(one_pass, counted, counted_fixed)
