# SPDX-License-Identifier: Apache-2.0
"""An underground's enquiry desk: tasks answer travellers, and share one search for each stop of departure."""

import asyncio
import heapq
import random
import zlib

from common import run

LINES, STOPS = 9, 160


def make_net(rng):
    """Minutes from stop to stop, both ways, by line."""
    net = {stop: {} for stop in range(STOPS)}
    for line in range(LINES):
        way = rng.sample(range(STOPS), 26)
        for a, b in zip(way, way[1:]):
            minutes = rng.randrange(2, 7)
            net[a].setdefault(b, []).append((minutes, line))
            net[b].setdefault(a, []).append((minutes, line))
    return net


class Desk:
    def __init__(self, net):
        self.net = net
        self.searches = {}
        self.told = []

    async def search(self, start):
        """Quickest times to all stops, four minutes a change; lets others run now and then."""
        seen, arrivals = set(), {}
        queue = [(0, start, -1)]
        while queue:
            minutes, stop, line = heapq.heappop(queue)
            if (stop, line) in seen:
                continue
            seen.add((stop, line))
            arrivals.setdefault(stop, (minutes, line))
            for near, rides in self.net[stop].items():
                for ride, other in rides:
                    if (near, other) not in seen:
                        change = 4 if line not in (-1, other) else 0
                        heapq.heappush(queue, (minutes + ride + change, near, other))
            if len(seen) % 32 == 0:
                await asyncio.sleep(0)
        return arrivals

    def from_stop(self, start):
        """The one search from there, under way or done, for all who ask."""
        if start not in self.searches:
            self.searches[start] = asyncio.create_task(self.search(start))
        return self.searches[start]

    async def answer(self, number, start, goal, luggage):
        arrivals = await self.from_stop(start)
        if goal not in arrivals:
            self.told.append((number, "no way"))
            return None
        minutes, line = arrivals[goal]
        minutes += 3 * luggage
        text = "%d: %d to %d with line %d, %d min" % (number, start, goal, line, minutes)
        self.told.append((number, "%s %08x" % (text, zlib.crc32(text.encode()))))
        return minutes


async def hour(rng):
    desk = Desk(make_net(rng))
    found = []
    for round_number in range(6):
        asked = [
            desk.answer(100 * round_number + n, rng.randrange(25), rng.randrange(STOPS), rng.randrange(3))
            for n in range(80)
        ]
        found += await asyncio.gather(*asked)
    minutes = [each for each in found if each is not None]
    return [len(minutes), sum(minutes), max(minutes, default=0), len(desk.searches), sorted(desk.told)[-2:]]


def one_pass(number, _):
    return asyncio.run(hour(random.Random(number)))


if __name__ == "__main__":
    run(one_pass)
