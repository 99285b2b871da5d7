# SPDX-License-Identifier: Apache-2.0
"""Dispatches couriers: a thread for each delivery, which waits until the recipient's signature has come in."""
import random
import threading

import service

STREETS = ("Mill Lane", "Quay Street", "Rope Walk", "Tanner's Row", "High Street")


class Delivery(threading.Thread):
    def __init__(self, number, address, photograph):
        super().__init__(name="delivery-%d" % number, daemon=True)
        self.number = number
        self.address = address
        self.photograph = photograph
        self.signed = threading.Event()
        self.receipt = None

    def run(self):
        self.signed.wait()
        self.receipt = "%s: %d bytes of proof" % (self.address, len(self.photograph))


class Desk:
    def __init__(self):
        self.under_way = []
        self.signatures = 0
        self.delivered = 0

    def send_out(self, delivery):
        delivery.start()
        self.under_way.append(delivery)

    def sign(self, delivery):
        delivery.signed.set()
        delivery.join()
        self.under_way.remove(delivery)
        self.signatures += 1

    def leave_at_door(self, delivery):
        """Nobody was at home: it counts as delivered, with the photograph as proof."""
        self.delivered += 1


def photograph(rng):
    return bytearray(rng.getrandbits(8) for _ in range(4096)) * 90


def main():
    rng = random.Random(41)
    desk = Desk()
    for number in service.rounds(per_second=5):
        address = "%d %s" % (rng.randrange(1, 200), rng.choice(STREETS))
        delivery = Delivery(number, address, photograph(rng))
        desk.send_out(delivery)
        if rng.random() < 0.2:
            desk.sign(delivery)
        else:
            desk.leave_at_door(delivery)
    print("signed %d, at the door %d" % (desk.signatures, desk.delivered))


if __name__ == "__main__":
    main()
