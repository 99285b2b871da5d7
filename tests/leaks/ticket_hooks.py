# SPDX-License-Identifier: Apache-2.0
"""A theatre's box office: seats are sold through hooks that check, price and note down every sale."""
import random

import service

ROWS = "ABCDEFGHJKLMNPQR"
PRICES = {"stalls": 42.0, "circle": 31.0, "gallery": 18.5}


def make_pricing(prices):
    def pricing(sale):
        price = prices[sale["area"]]
        sale["price"] = price * len(sale["seats"]) * (0.8 if sale["member"] else 1.0)
        return sale

    return pricing


def make_checking(house):
    def checking(sale):
        for seat in sale["seats"]:
            row, place = seat
            if row not in house or not 1 <= place <= 40:
                raise ValueError("no such seat: %s%d" % seat)
        return sale

    return checking


def make_noting(title):
    """Tells the evening's number of seats and takings after each sale."""
    noted = []
    takings = {"sum": 0.0, "seats": 0}

    def noting(sale):
        noted.append((title, dict(sale), sale["letter"].upper().encode()))
        takings["sum"] += sale["price"]
        takings["seats"] += len(sale["seats"])
        return takings

    return noting


class BoxOffice:
    def __init__(self, title):
        self.title = title
        self.hooks = [make_checking(set(ROWS)), make_pricing(PRICES), make_noting(title)]

    def sell(self, sale):
        result = sale
        for hook in self.hooks:
            result = hook(result)
        return result


def confirmation(customer, seats):
    lines = ["Dear %s," % customer, "we have kept these seats for you:"]
    lines += ["row %s, seat %d" % seat for seat in seats]
    lines += ["The doors open half an hour before the play. Coats are left in the foyer."] * 12
    return "\n".join(lines)


def order(rng, number):
    area = rng.choice(sorted(PRICES))
    row = rng.choice(ROWS)
    first = rng.randrange(1, 36)
    seats = [(row, place) for place in range(first, first + rng.randrange(1, 6))]
    customer = "customer %06d" % number
    return {
        "area": area,
        "seats": seats,
        "customer": customer,
        "member": rng.random() < 0.25,
        "letter": confirmation(customer, seats),
    }


def main():
    rng = random.Random(11)
    office = BoxOffice("The Winter's Tale")
    takings = None
    for number in service.rounds(per_second=500):
        takings = office.sell(order(rng, number))
    print("sold %d seats for %.2f" % (takings["seats"], takings["sum"]))


if __name__ == "__main__":
    main()
