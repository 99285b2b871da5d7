# SPDX-License-Identifier: Apache-2.0
"""A courier's monthly invoices: parcels are read from the scanners' file, priced by the tariff sheet and summed by customer."""

import csv
import io
import json
import random
import zlib
from decimal import Decimal

import pandas as pd

from common import run

ZONES = ["city", "land", "north", "south", "isles", "abroad"]
SERVICES = ["slow", "day", "express", "night"]
BANDS = [500, 1_000, 2_000, 5_000, 10_000, 20_000, 31_500]
TAXED, CENT = Decimal("1.19"), Decimal("0.01")


def sheet(rnd):
    """The tariff sheet as the sales people keep it."""
    rows = []
    for zone, service, band in ((z, s, b) for z in ZONES for s in SERVICES for b in BANDS):
        rows.append({"zone": zone, "service": service, "band": band, "cents": rnd.randint(250, 4_000), "fuel": rnd.randint(0, 90)})
    return pd.DataFrame(rows).set_index(["zone", "service", "band"])


class Tariff:
    def __init__(self, table):
        self.table = table

    def rate(self, zone, service, grams):
        band = next(limit for limit in BANDS if grams <= limit)
        row = self.table.loc[zone, service, band]
        return int(row["cents"]) + int(row["fuel"])


class TariffFixed(Tariff):
    def __init__(self, table):
        super().__init__(table)
        self.rates = (table["cents"] + table["fuel"]).to_dict()

    def rate(self, zone, service, grams):
        band = next(limit for limit in BANDS if grams <= limit)
        return self.rates[zone, service, band]


class Parcel:
    def __init__(self, row):
        self.code, self.customer = row["code"], row["customer"]
        self.zone, self.service = row["zone"], row["service"]
        self.grams = int(row["grams"])
        self.sides = [int(side) for side in row["sides"].split("x")]
        self.events = json.loads(row["events"])

    def valid(self):
        """The last digit makes the weighted sum of the others whole."""
        digits = [int(char) for char in self.code]
        odd, even = sum(digits[0:11:2]), sum(digits[1:11:2])
        return (3 * odd + even + digits[11]) % 10 == 0

    def charged(self):
        """Grams, or what the room it takes would weigh."""
        long, wide, high = self.sides
        return min(max(self.grams, long * wide * high // 6), 31_500)

    def extras(self):
        cents = 0
        tries = 0
        for event in self.events:
            if event["what"] == "tried":
                tries += 1
                cents += 120 * (tries > 1)
            elif event["what"] == "stored":
                cents += 45 * event["days"]
        return cents


class Invoices:
    def __init__(self, tariff):
        self.tariff = tariff
        self.sums = {}
        self.lines = io.StringIO()
        self.odd = 0

    def add(self, parcel):
        if not parcel.valid():
            self.odd += 1
            return
        base = self.tariff.rate(parcel.zone, parcel.service, parcel.charged())
        net = Decimal(base + parcel.extras()).scaleb(-2)
        gross = (net * TAXED).quantize(CENT)
        self.sums[parcel.customer] = self.sums.get(parcel.customer, 0) + gross
        self.lines.write("%s;%s;%s;%s\n" % (parcel.customer, parcel.code, net, gross))


def code(rnd):
    digits = [rnd.randrange(10) for _ in range(11)]
    last = -(3 * sum(digits[0:11:2]) + sum(digits[1:11:2])) % 10
    return "".join(map(str, digits)) + str(last if rnd.random() < 0.98 else (last + 1) % 10)


def scanned(rnd, many):
    """The scanners' file."""
    out = io.StringIO()
    rows = csv.writer(out)
    rows.writerow(["code", "customer", "zone", "service", "grams", "sides", "events"])
    for _ in range(many):
        events = [{"what": rnd.choice(("in", "sorted", "tried", "out")), "at": rnd.randrange(10**6)} for _ in range(rnd.randint(2, 8))]
        if rnd.random() < 0.1:
            events.append({"what": "stored", "days": rnd.randint(1, 7)})
        sides = "x".join(str(rnd.randint(8, 60)) for _ in range(3))
        rows.writerow([code(rnd), "c%03d" % rnd.randrange(200), rnd.choice(ZONES), rnd.choice(SERVICES), rnd.randint(80, 30_000), sides, json.dumps(events)])
    return out.getvalue()


def one_pass(number, tariff):
    rnd = random.Random(number)
    invoices = Invoices(tariff(sheet(rnd)))
    for row in csv.DictReader(io.StringIO(scanned(rnd, 1_500))):
        invoices.add(Parcel(row))
    return zlib.crc32(invoices.lines.getvalue().encode()), str(sum(invoices.sums.values())), len(invoices.sums), invoices.odd


if __name__ == "__main__":
    run(one_pass, Tariff, TariffFixed)
