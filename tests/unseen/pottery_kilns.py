# SPDX-License-Identifier: Apache-2.0
"""A pottery's orders wait for the kilns, that fire them together as far as heat and room allow."""

import asyncio
import random
from dataclasses import dataclass

from runner import run

ORDERS = 420
KILNS = 4
ROOM = 60


@dataclass(frozen=True)
class Order:
    number: int
    pots: int
    litres: float
    heat: int
    glaze: str


@dataclass
class Firing:
    heat: int
    orders: list
    room: float = ROOM

    def takes(self, order):
        return abs(order.heat - self.heat) <= 30 and order.litres <= self.room

    def put(self, order):
        self.orders.append(order)
        self.room -= order.litres


def orders(seed):
    rnd = random.Random(seed)
    for number in range(ORDERS):
        pots = rnd.randrange(1, 12)
        yield Order(
            number,
            pots,
            pots * rnd.uniform(0.4, 3.0),
            rnd.choice((980, 1000, 1060, 1080, 1220, 1240, 1260)),
            rnd.choice(("ash", "tenmoku", "celadon", "salt")),
        )


async def office(incoming, queue):
    for order in incoming:
        await queue.put(order)
        if order.number % 9 == 0:
            await asyncio.sleep(0)
    for _ in range(KILNS):
        await queue.put(None)


async def kiln(queue, book, seed):
    """Fires what came; an order that does not fit begins the next firing."""
    rnd = random.Random(seed)
    firing = None
    while True:
        order = await queue.get()
        if order is not None and firing is not None and firing.takes(order):
            firing.put(order)
            continue
        if firing is not None:
            book.append(fired(firing, rnd))
        if order is None:
            return
        firing = Firing(order.heat, [])
        firing.put(order)
        await asyncio.sleep(0)


def fired(firing, rnd):
    """What the firing cost and which pots came out whole."""
    broken, worst = 0, 0.0
    for order in firing.orders:
        for _ in range(order.pots):
            strain = rnd.gauss(0.4, 0.2) + abs(order.heat - firing.heat) / 200
            broken += strain > 0.9
            worst = max(worst, strain)
    litres = ROOM - firing.room
    gas = firing.heat * (0.02 + 0.0004 * litres)
    glazes = {}
    for order in firing.orders:
        glazes[order.glaze] = glazes.get(order.glaze, 0) + order.pots
    main = max(sorted(glazes), key=lambda glaze: glazes[glaze])
    return firing.heat, len(firing.orders), broken, gas, main, worst


async def week(number):
    queue, book = asyncio.Queue(8), []
    kilns = [kiln(queue, book, 10 * number + place) for place in range(KILNS)]
    await asyncio.gather(office(orders(number), queue), *kilns)
    return book


def one_pass(number, step):
    book = asyncio.run(week(number))
    broken = sum(entry[2] for entry in book)
    gas = sum(entry[3] for entry in book)
    return len(book), broken, gas, max(entry[5] for entry in book), book[0][4]


if __name__ == "__main__":
    run(one_pass)
