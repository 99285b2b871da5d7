# SPDX-License-Identifier: Apache-2.0
"""Exports of a hospital's laboratory: how long samples take, which results jump from the patient's last one, and what is out of range."""

import io
import random

import pandas as pd

from common import run

LOW = {"K": 3.5, "Na": 135.0, "CRP": 0.0, "Hb": 12.0, "Crea": 0.5}
HIGH = {"K": 5.1, "Na": 145.0, "CRP": 5.0, "Hb": 17.5, "Crea": 1.2}
ANALYTES = list(LOW)
JUMP = {"K": 0.8, "Na": 6.0, "CRP": 40.0, "Hb": 1.5, "Crea": 0.4}
PATTERN = "%d.%m.%Y %H:%M"


def export(rnd, first, rows):
    """One day's file: when each sample was taken and when its result was free, as the instrument writes them."""
    out = io.StringIO()
    out.write("sample;patient;analyte;taken;free;value;urgent\n")
    for number in range(rows):
        taken = first + pd.Timedelta(minutes=rnd.randrange(1_440)) if number % 3 == 0 else taken
        free = taken + pd.Timedelta(minutes=int(rnd.lognormvariate(3.8, 0.5)))
        analyte = rnd.choice(ANALYTES)
        low, high = LOW[analyte], HIGH[analyte]
        value = "%.2f" % rnd.gauss((low + high) / 2, (high - low) / 2.5)
        out.write(
            f"S{number:06d};P{rnd.randrange(80):04d};{analyte};{taken.day:02d}.{taken.month:02d}.{taken.year} {taken.hour:02d}:{taken.minute:02d};"
            f"{free.day:02d}.{free.month:02d}.{free.year} {free.hour:02d}:{free.minute:02d};{value};{int(rnd.random() < 0.15)}\n"
        )
    return out.getvalue()


def times(column):
    return pd.to_datetime(column, dayfirst=True, format="mixed")


def times_fixed(column):
    return pd.to_datetime(column, format=PATTERN)


class Laboratory:
    def __init__(self, times):
        self.times = times
        self.days = []
        self.rows = []

    def read(self, text):
        table = pd.read_csv(io.StringIO(text), sep=";", dtype={"analyte": "category"})
        for name in ("taken", "free"):
            table[name] = self.times(table[name])
        table["minutes"] = (table["free"] - table["taken"]).dt.total_seconds() / 60
        return table

    def ranges(self, table):
        low, high = (table["analyte"].map(limits).astype(float) for limits in (LOW, HIGH))
        return (table["value"] < low) | (table["value"] > high)

    def jumps(self, table):
        """Results that differ much from the last one of the same patient."""
        ordered = table.sort_values("taken", kind="stable")
        last = ordered.groupby(["patient", "analyte"], observed=True)["value"].shift()
        most = ordered["analyte"].map(JUMP).astype(float)
        return int(((ordered["value"] - last).abs() > most).sum())

    def waits(self, table):
        """Ninth tenths of the minutes, urgent and not, and the share that is late."""
        ninth = table.groupby(["urgent", "analyte"], observed=True)["minutes"].quantile(0.9)
        late = (table["minutes"] > table["urgent"].map({0: 120, 1: 60})).mean()
        return float(ninth.loc[1].max()), float(ninth.loc[0].max()), float(late)

    def load(self, table):
        """The busiest hour, by samples taken."""
        counts = table["taken"].dt.hour.value_counts()
        return int(counts.max())

    def day(self, text):
        table = self.read(text)
        self.days.append(table[["patient", "analyte", "minutes"]].assign(out=self.ranges(table)))
        self.rows.append((*self.waits(table), self.jumps(table), self.load(table)))

    def report(self):
        table = pd.concat(self.days, ignore_index=True)
        worst = table.groupby("patient")["out"].sum().nlargest(3)
        shares = table.groupby("analyte", observed=True)["out"].mean()
        return worst.tolist(), [round(share, 6) for share in shares], float(table["minutes"].median())


def one_pass(number, times):
    rnd = random.Random(number)
    laboratory = Laboratory(times)
    first = pd.Timestamp(2022, 1, 1) + pd.Timedelta(days=number % 700)
    for day in range(3):
        laboratory.day(export(rnd, first + pd.Timedelta(days=day), 700))
    return laboratory.report(), laboratory.rows


if __name__ == "__main__":
    run(one_pass, times, times_fixed)
