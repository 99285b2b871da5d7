# SPDX-License-Identifier: Apache-2.0
"""Errands of hospital robots: each goes from ward to ward by lifts and corridors; batteries, delays and logs are kept."""

import heapq
import random
from collections import Counter, defaultdict

from runner import run

FLOORS = 5
WARDS = 16


def building(rnd):
    """Crossings on each floor with corridors between neighbours, and two lifts; seconds to pass each."""
    ways = defaultdict(dict)
    for floor in range(FLOORS):
        for at in range(WARDS):
            for other in ((at + 1) % WARDS, (at + 5) % WARDS):
                seconds = rnd.randint(8, 45)
                ways[floor, at][floor, other] = seconds
                ways[floor, other][floor, at] = seconds
    for lift in (0, 9):
        for floor in range(FLOORS - 1):
            ways[floor, lift][floor + 1, lift] = ways[floor + 1, lift][floor, lift] = 40
    return dict(ways)


def way(ways, start, goal):
    reached = {start: 0}
    before = {}
    edge = [(0, start)]
    while edge:
        seconds, here = heapq.heappop(edge)
        if here == goal:
            break
        if seconds > reached[here]:
            continue
        for there, cost in ways[here].items():
            if seconds + cost < reached.get(there, 1 << 30):
                reached[there] = seconds + cost
                before[there] = here
                heapq.heappush(edge, (seconds + cost, there))
    path = [goal]
    while path[-1] != start:
        path.append(before[path[-1]])
    return reached[goal], tuple(reversed(path))


class Robot:
    def __init__(self, name, at):
        self.name = name
        self.at = at
        self.free = 0
        self.charge = 100.0

    def drive(self, seconds, path, now, rnd):
        delay = sum(int(rnd.expovariate(0.25)) for _ in path)
        self.at = path[-1]
        self.charge -= (seconds + delay) * 0.02
        self.free = now + seconds + delay
        if self.charge < 25:
            self.free += int((100 - self.charge) * 6)
            self.charge = 100.0
        return delay


class Dispatcher:
    def __init__(self, ways, robots):
        self.ways = ways
        self.robots = robots
        self.passed = Counter()
        self.log = []

    def route(self, start, goal):
        return way(self.ways, start, goal)

    def send(self, now, start, goal, rnd):
        robot = min(self.robots, key=lambda robot: (max(robot.free, now), robot.name))
        begin = max(robot.free, now)
        first, there = self.route(robot.at, start)
        second, onward = self.route(start, goal)
        delay = robot.drive(first + second, there + onward[1:], begin, rnd)
        for node in there[:-1] + onward:
            self.passed[node] += 1
        stops = ">".join("%d.%02d" % node for node in onward)
        self.log.append(f"{begin:06d} {robot.name} {first + second + delay:5d}s {robot.charge:5.1f}% {stops}")


class DispatcherFixed(Dispatcher):
    def __init__(self, ways, robots):
        super().__init__(ways, robots)
        self.routes = {}

    def route(self, start, goal):
        if (start, goal) not in self.routes:
            self.routes[start, goal] = way(self.ways, start, goal)
        return self.routes[start, goal]


def one_pass(number, step):
    rnd = random.Random(number)
    ways = building(rnd)
    places = rnd.sample(sorted(ways), 16)
    dispatcher = step(ways, [Robot("R%d" % at, rnd.choice(places)) for at in range(4)])
    now = 0
    for _ in range(420):
        now += rnd.randrange(60)
        dispatcher.send(now, *rnd.sample(places, 2), rnd)
    busiest = sorted(dispatcher.passed.items(), key=lambda pair: (-pair[1], pair[0]))[:5]
    return busiest, len(dispatcher.log), dispatcher.log[-2:]


if __name__ == "__main__":
    run(one_pass, Dispatcher, DispatcherFixed)
