# SPDX-License-Identifier: Apache-2.0
"""Loads carriers' invoices: stages named by the job's configuration check the lines, add fuel and road toll, and book them by cost centre."""

import csv
import io
import random
from collections import defaultdict
from configparser import ConfigParser, ExtendedInterpolation
from decimal import Decimal

from common import run

STAGES = {}
CENT = Decimal("0.01")
CONFIG = """
[base]
oil = %(oil)d
toll = 0.%(toll)02d

[job]
stages = check fuel toll book

[check]
heaviest = 24000

[fuel]
share = 0.${base:oil}

[toll]
per_km = ${base:toll}
free = DE-AT DE-CH
"""


class Settings:
    """The job's configuration; values may refer to other sections."""

    def __init__(self, text):
        self.parser = ConfigParser(interpolation=ExtendedInterpolation())
        self.parser.read_string(text)

    def words(self, section, option):
        return self.parser.get(section, option).split()

    def decimal(self, section, option):
        return Decimal(self.parser.get(section, option))


class Stage:
    def __init_subclass__(cls, name=None):
        if name:
            STAGES[name] = cls

    def __init__(self, job):
        self.job = job
        self.settings = job.settings


class Check(Stage, name="check"):
    def __init__(self, job):
        super().__init__(job)
        self.heaviest = self.settings.decimal("check", "heaviest")

    def process(self, rows):
        for row in rows:
            row["weight"], row["net"] = Decimal(row["weight"]), Decimal(row["net"])
            if row["weight"] > self.heaviest or row["net"] <= 0 or len(row["lane"]) != 5:
                self.job.refused.append((row["invoice"], row["line"]))
                continue
            yield row


class Fuel(Stage, name="fuel"):
    def share(self):
        return self.settings.decimal("fuel", "share")

    def process(self, rows):
        for row in rows:
            row["fuel"] = (row["net"] * self.share()).quantize(CENT)
            yield row


class FuelFixed(Fuel):
    def __init__(self, job):
        super().__init__(job)
        self.read = super().share()

    def share(self):
        return self.read


class Toll(Stage, name="toll"):
    def __init__(self, job):
        super().__init__(job)
        self.rate = self.settings.decimal("toll", "per_km")
        self.free = frozenset(self.settings.words("toll", "free"))

    def process(self, rows):
        for row in rows:
            row["toll"] = Decimal(0) if row["lane"] in self.free else (self.rate * int(row["km"])).quantize(CENT)
            yield row


class Book(Stage, name="book"):
    def process(self, rows):
        for row in rows:
            total = row["net"] + row["fuel"] + row["toll"]
            self.job.booked[row["centre"], row["lane"][:2]] += total
            yield "%(invoice)s;%(line)s;%(centre)s" % row + ";%s" % total


class Job:
    def __init__(self, text, replaced):
        self.settings = Settings(text)
        self.refused = []
        self.booked = defaultdict(Decimal)
        kinds = {**STAGES, **replaced}
        self.stages = [kinds[name](self) for name in self.settings.words("job", "stages")]

    def load(self, text):
        rows = csv.DictReader(io.StringIO(text, newline=""), delimiter=";")
        for stage in self.stages:
            rows = stage.process(rows)
        return list(rows)


def invoice(rnd, number, lines):
    out = ["invoice;line;lane;km;weight;net;centre"]
    for line in range(lines):
        lane = rnd.choice(("DE", "FR", "PL")) + "-" + rnd.choice(("AT", "CH", "IT", "ES", "BE", "BE", "BE?"))
        amounts = rnd.randint(40, 1_900), rnd.randint(50, 25_000), rnd.randint(-200, 250_000) / 100
        out.append("F%05d;%d;%s;%d;%d;%.2f;K%02d" % (number, line, lane, *amounts, rnd.randrange(20)))
    return "\n".join(out) + "\n"


def one_pass(number, fuel):
    rnd = random.Random(number)
    job = Job(CONFIG % {"oil": rnd.randint(10, 35), "toll": rnd.randint(5, 40)}, {"fuel": fuel})
    lines = [line for at in range(8) for line in job.load(invoice(rnd, at, 90))]
    return len(lines), lines[-1], len(job.refused), sorted((key, str(total)) for key, total in job.booked.items())


if __name__ == "__main__":
    run(one_pass, Fuel, FuelFixed)
