# SPDX-License-Identifier: Apache-2.0
"""Bicycle counters at crossings send passages; two coroutines read a queue and keep the busiest quarter hours."""

import asyncio
import random
from collections import Counter, defaultdict
from datetime import datetime

from common import run

CROSSINGS = ("Mill Lane", "Harbour Bridge", "Old Market", "Station West", "Canal Lock", "Park Gate")
END = None


def messages(seed):
    rnd = random.Random(seed)
    second = 0
    for at in range(2_600):
        second += rnd.randrange(6)
        minute = second // 60
        when = "%02d.%02d.2031 %02d:%02d" % (1 + seed % 28, 1 + seed % 12, 6 + minute // 60, minute % 60)
        speed = max(4.0, rnd.gauss(17.5, 5.0))
        yield "%s;%s;%s;%.1f;%08x" % (when, rnd.choice(CROSSINGS), rnd.choice("NSEW"), speed, rnd.getrandbits(32))


class Board:
    def __init__(self):
        self.quarters = Counter()
        self.speeds = defaultdict(list)
        self.headings = Counter()
        self.rush = 0
        self.last = {}
        self.gaps = Counter()

    def moment(self, text):
        return datetime.strptime(text, "%d.%m.%Y %H:%M")

    def record(self, line):
        text, crossing, heading, speed, device = line.split(";")
        when = self.moment(text)
        self.quarters[crossing, when.hour, when.minute // 15] += 1
        self.headings[crossing, heading] += 1
        self.speeds[crossing].append(float(speed))
        before = self.last.get(crossing)
        if before is not None:
            self.gaps[int((when - before).total_seconds()) // 60] += 1
        self.last[crossing] = when
        if when.weekday() < 5 and 7 <= when.hour < 9:
            self.rush += 1
        return sum(bytes.fromhex(device)) % 251

    def busiest(self):
        return sorted(self.quarters.items(), key=lambda pair: (-pair[1], pair[0]))[:8]

    def percentile(self, crossing, share):
        ordered = sorted(self.speeds[crossing])
        return ordered[int(share * (len(ordered) - 1))]


class BoardFixed(Board):
    def __init__(self):
        super().__init__()
        self.moments = {}

    def moment(self, text):
        found = self.moments.get(text)
        if found is None:
            found = self.moments[text] = datetime.strptime(text, "%d.%m.%Y %H:%M")
        return found


async def receive(queue, seed):
    for at, line in enumerate(messages(seed)):
        await queue.put(line)
        if at % 40 == 0:
            await asyncio.sleep(0)
    for _ in range(2):
        await queue.put(END)


async def count(queue, board):
    checks = 0
    while (line := await queue.get()) is not END:
        checks += board.record(line)
    return checks


async def day(seed, board):
    queue = asyncio.Queue(200)
    _, first, second = await asyncio.gather(receive(queue, seed), count(queue, board), count(queue, board))
    return first + second


def one_pass(number, step):
    board = step()
    checks = asyncio.run(day(number, board))
    return checks, board.rush, board.busiest(), [board.percentile(crossing, 0.85) for crossing in CROSSINGS], sorted(board.gaps.items())


if __name__ == "__main__":
    run(one_pass, Board, BoardFixed)
