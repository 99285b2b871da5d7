# SPDX-License-Identifier: Apache-2.0
"""The gates of a stadium: one controller for each gate and match, which reads tickets and counts those let in."""
import random

import service

GATES = ("east", "west", "river", "station")
SEATS = 26000


class Ticket:
    def __init__(self, number, gate, stub):
        self.number = number
        self.gate = gate
        self.stub = stub


class Gate:
    """Lets in whoever has a ticket for it that nobody has shown yet."""

    admitted = []
    refused_reasons = ("wrong gate", "shown before")

    def __init__(self, name, match):
        self.name = name
        self.match = match
        self.shown = set()
        self.count = 0
        self.refused = dict.fromkeys(self.refused_reasons, 0)

    def read(self, ticket):
        if ticket.gate != self.name:
            self.refused["wrong gate"] += 1
            return False
        if ticket.number in self.shown:
            self.refused["shown before"] += 1
            return False
        self.shown.add(ticket.number)
        self.admitted.append(ticket)
        self.count += 1
        return True

    def display(self):
        last = self.admitted[-1].number if self.admitted else None
        return "%s: %d in, last %s" % (self.name, self.count, last)


def match_day(number, rng):
    """Visitors of one (short) match in the order in which they arrive."""
    gates = {name: Gate(name, number) for name in GATES}
    screen = []
    for _ in range(120):
        gate = rng.choice(GATES)
        stub = bytes(rng.getrandbits(8) for _ in range(64)) * 60
        ticket = Ticket(number * SEATS + rng.randrange(SEATS), gate, stub)
        asked = gate if rng.random() < 0.97 else rng.choice(GATES)
        gates[asked].read(ticket)
    for gate in gates.values():
        screen.append(gate.display())
    return sum(gate.count for gate in gates.values()), screen


def main():
    rng = random.Random(23)
    visitors = 0
    for number in service.rounds(per_second=5):
        let_in, screen = match_day(number, rng)
        visitors += let_in
        if number % 50 == 0:
            print("; ".join(screen))
    print("visitors %d" % visitors)


if __name__ == "__main__":
    main()
