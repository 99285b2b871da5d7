# SPDX-License-Identifier: Apache-2.0
"""How late a month's buses were, by line and by kind of day, from the export of the depot's computer."""

import csv
import io
import random
from collections import defaultdict
from datetime import date, datetime, timedelta

from runner import run

LINES = ("4", "4X", "11", "27", "N2")
ROWS = 1500
SPENT = (-1, 0, 0, 0, 1, 1, 2, 2, 3, 5, 8, 13)


def export(seed):
    rnd = random.Random(seed)
    first = date(2019 + seed % 6, 1 + seed % 12, 1)
    text = io.StringIO()
    writer = csv.writer(text, delimiter=";")
    writer.writerow(("line", "day", "due", "left", "seats taken"))
    for _ in range(ROWS):
        day = first + timedelta(days=rnd.randrange(28))
        due = rnd.randrange(5 * 60, 23 * 60)
        left = due + rnd.choice(SPENT)
        writer.writerow(
            (
                rnd.choice(LINES),
                "%02d/%02d/%d" % (day.day, day.month, day.year),
                "%02d:%02d" % divmod(due, 60),
                "%02d:%02d" % divmod(left, 60),
                rnd.randrange(71),
            )
        )
    return text.getvalue()


def minutes(clock):
    hours, rest = clock.split(":")
    return 60 * int(hours) + int(rest)


def kind_of(day):
    return ("workday", "workday", "workday", "workday", "workday", "saturday", "sunday")[day.weekday()]


class Calendar:
    def day(self, text):
        return datetime.strptime(text, "%d/%m/%Y").date()


class CalendarFixed(Calendar):
    def __init__(self):
        self.known = {}

    def day(self, text):
        if text not in self.known:
            self.known[text] = datetime.strptime(text, "%d/%m/%Y").date()
        return self.known[text]


def punctuality(text, calendar):
    late, trips, full = defaultdict(int), defaultdict(int), defaultdict(int)
    worst = (-99, 0)
    for row in csv.DictReader(io.StringIO(text), delimiter=";"):
        day = calendar.day(row["day"])
        minutes_late = minutes(row["left"]) - minutes(row["due"])
        key = row["line"], kind_of(day)
        trips[key] += 1
        late[key] += max(0, minutes_late)
        full[key] += int(row["seats taken"]) > 62
        worst = max(worst, (minutes_late, day.toordinal()))
    return {key: (late[key] / count, full[key]) for key, count in trips.items()}, worst


def one_pass(number, step):
    table, worst = punctuality(export(number), step())
    rows = ["%-3s %-8s %6.2f %3d" % (*key, *table[key]) for key in sorted(table)]
    return worst, len(rows), rows[:3]


if __name__ == "__main__":
    run(one_pass, Calendar, CalendarFixed)
