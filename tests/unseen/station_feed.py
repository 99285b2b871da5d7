# SPDX-License-Identifier: Apache-2.0
"""Follows a live XML feed of train movements as it comes in over a connection, piece by piece."""

import asyncio
import random
from collections import defaultdict
from xml.etree.ElementTree import XMLPullParser

from runner import run

STATIONS = ("Aller", "Brook", "Cray", "Dean", "Exe", "Fal", "Gade", "Hull")
PIECE = 900


def movements(seed, count):
    rng = random.Random(seed)
    clock = 0
    yield "<feed day='%d'>" % seed
    for i in range(count):
        clock += rng.randrange(40)
        late = max(0, int(rng.gauss(60, 120)))
        yield "<move id='%d' at='%d'><train>%s%03d</train><station>%s</station><late>%d</late></move>" % (
            seed * count + i,
            clock,
            rng.choice("ICR"),
            rng.randrange(400),
            rng.choice(STATIONS),
            late,
        )
        if rng.random() < 0.05:
            yield "<ping/>"
    yield "</feed>"


async def send(reader, seed, count):
    held = bytearray()
    for text in movements(seed, count):
        held += text.encode()
        while len(held) >= PIECE:
            reader.feed_data(bytes(held[:PIECE]))
            del held[:PIECE]
            await asyncio.sleep(0)
    reader.feed_data(bytes(held))
    reader.feed_eof()


async def arrivals(reader):
    parser = XMLPullParser(["start", "end"])
    root = None
    while piece := await reader.read(4096):
        parser.feed(piece)
        for event, element in parser.read_events():
            if root is None:
                root = element
            elif event == "end" and element.tag == "move":
                yield (
                    int(element.get("at")),
                    element.findtext("train"),
                    element.findtext("station"),
                    int(element.findtext("late")),
                )
                root.clear()
    parser.close()


async def board(reader):
    lateness = defaultdict(float)
    last_seen = {}
    hops = 0
    async for at, train, station, late in arrivals(reader):
        lateness[station] += 0.1 * (late - lateness[station])
        hops += last_seen.get(train, station) != station
        last_seen[train] = station
    return dict(lateness), hops, len(last_seen)


async def follow(seed, count):
    reader = asyncio.StreamReader(limit=1 << 16)
    sender = asyncio.create_task(send(reader, seed, count))
    shown = await board(reader)
    await sender
    return shown


def one_pass(number, step):
    lateness, hops, trains = asyncio.run(follow(number, 10_000))
    return [lateness[station] for station in STATIONS], hops, trains


if __name__ == "__main__":
    run(one_pass)
