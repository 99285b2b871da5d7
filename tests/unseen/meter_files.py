# SPDX-License-Identifier: Apache-2.0
"""Bills a street's water from the files its meters send: one file a house, with corrections by the reader."""

import csv
import io
import random
from decimal import ROUND_HALF_UP, Decimal

from runner import run

HOUSES = 45
WEEKS = 26
CENT = Decimal("0.01")
LEAK = Decimal("1.9")
FREE = Decimal(40)
SURCHARGE = Decimal("1.35")


def send(seed, house):
    """The file of one house: running total in cubic metres, temperature, a remark now and then."""
    rnd = random.Random(1000 * seed + house)
    total = rnd.randrange(100000, 900000)
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(("week", "total", "celsius", "remark"))
    for week in range(1, WEEKS + 1):
        total += rnd.randrange(600, 4200)
        remark = "corrected, -%d l" % rnd.randrange(1, 90) if rnd.random() < 0.08 else ""
        writer.writerow((week, "%d.%03d" % divmod(total, 1000), "%.1f" % rnd.uniform(4, 17), remark))
    return text.getvalue()


class House:
    def __init__(self, number):
        self.number = number
        self.weeks = []
        self.frost = 0

    def read(self, text):
        lines = csv.reader(io.StringIO(text))
        next(lines)
        before = None
        for week, total, celsius, remark in lines:
            now = Decimal(total)
            if remark:
                now -= Decimal(remark.split("-")[1][:-2]) / 1000
            if before is not None:
                self.weeks.append((int(week), now - before))
            self.frost += float(celsius) < 5
            before = now
        return self

    def used(self):
        return sum(used for _, used in self.weeks)

    def leaks(self):
        """Weeks that took far more than the one before."""
        usual = None
        found = []
        for week, used in self.weeks:
            if usual is not None and used > usual * LEAK:
                found.append(week)
            usual = used
        return found


def bill(used, price, drain):
    first = min(used, FREE) * price
    rest = max(used - FREE, 0) * price * SURCHARGE
    return (first + rest + used * drain).quantize(CENT, rounding=ROUND_HALF_UP)


def one_pass(number, step):
    rnd = random.Random(number)
    price, drain = Decimal(rnd.randrange(150, 210)) / 100, Decimal(rnd.randrange(90, 140)) / 100
    bills, leaks, frost = [], 0, 0
    for place in range(HOUSES):
        house = House(2 * place + 1).read(send(number, place))
        bills.append((bill(house.used(), price, drain), house.number))
        leaks += len(house.leaks())
        frost += house.frost
    return str(max(bills)[0]), max(bills)[1], str(sum(amount for amount, _ in bills)), leaks, frost


if __name__ == "__main__":
    run(one_pass)
