# SPDX-License-Identifier: Apache-2.0
"""Relays messages between the rooms of a chat: each message is delivered by a task of its own."""
import asyncio
import random

import service

ROOMS = ("lobby", "chess", "gardening", "radio", "trains")
WORDS = "the a rook tomato valve signal queen soil aerial platform pawn seed tuner guard hedge tower".split()


class Relay:
    def __init__(self):
        self.members = {room: ["%s-%d" % (room, number) for number in range(40)] for room in ROOMS}
        self.deliveries = set()
        self.delivered = 0

    async def deliver(self, room, text):
        """The message as each member of the room will see it."""
        copies = {}
        for member in self.members[room]:
            copies[member] = "@%s %s" % (member, text)
        await asyncio.sleep(0.01)
        self.delivered += len(copies)
        return copies

    def post(self, room, text):
        """Keeps a reference, as the event loop has only a weak one."""
        task = asyncio.ensure_future(self.deliver(room, text))
        self.deliveries.add(task)
        return task


def sentence(rng):
    return " ".join(rng.choice(WORDS) for _ in range(rng.randrange(20, 60)))


async def chatter(relay, rng):
    async for number in service.async_rounds(per_second=20):
        for _ in range(6):
            relay.post(rng.choice(ROOMS), sentence(rng))
        if number % 40 == 0:
            await relay.post("lobby", "there are %d rooms" % len(ROOMS))


def main():
    relay = Relay()
    asyncio.run(chatter(relay, random.Random(29)))
    print("delivered %d" % relay.delivered)


if __name__ == "__main__":
    main()
