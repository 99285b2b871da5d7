# SPDX-License-Identifier: Apache-2.0
"""A dairy's deliveries: every few seconds a batch of orders is complete, is sorted into rounds, and is sent off."""
import random

import service

BATCH = 60
FARMS = ("Hill", "Brook", "Oak", "Moor")


class Order:
    def __init__(self, house, bottles, wishes):
        self.house = house
        self.bottles = bottles
        self.wishes = wishes


class Dairy:
    """Orders are gathered until the cart is due, and none is left then."""

    def __init__(self):
        self.gathered = {farm: [] for farm in FARMS}
        self.carts = 0
        self.bottles = 0

    def take(self, farm, orders):
        self.gathered[farm].extend(orders)

    def send_off(self):
        for farm, orders in self.gathered.items():
            orders.sort(key=lambda order: order.house)
            self.bottles += sum(order.bottles for order in orders)
            self.gathered[farm] = []
        self.carts += 1


def orders_of(rng, count):
    wishes = "leave it on the step, please, and mind the dog; yesterday's bottles are in the crate. "
    return [
        Order(rng.randrange(5000), rng.randrange(1, 7), (wishes + str(rng.random())) * 4)
        for _ in range(count)
    ]


def main():
    rng = random.Random(103)
    dairy = Dairy()
    for number in service.rounds(per_second=12):
        dairy.take(rng.choice(FARMS), orders_of(rng, 600))
        if number % BATCH == BATCH - 1:
            dairy.send_off()
    print("carts %d, bottles %d" % (dairy.carts, dairy.bottles))


if __name__ == "__main__":
    main()
