# SPDX-License-Identifier: Apache-2.0
"""Runs the payroll of one department after the other; each run's journal goes out by mail with its pay slips."""
import io
import logging
import random

import service

DEPARTMENTS = ("kitchen", "laundry", "wards", "theatre", "grounds", "office")
SLIP = "gross %(gross)9.2f | tax %(tax)9.2f | pension %(pension)9.2f | net %(net)9.2f | hours %(hours)s"

log = logging.getLogger("payroll")
log.setLevel(logging.INFO)
log.propagate = False


class OfRun(logging.Filter):
    """Lets the records of one run through."""

    def __init__(self, run):
        super().__init__()
        self.run = run

    def filter(self, record):
        return getattr(record, "run", None) == self.run


class Run:
    def __init__(self, number, department):
        self.number = number
        self.department = department
        self.journal = io.StringIO()
        handler = logging.StreamHandler(self.journal)
        handler.setFormatter(logging.Formatter("%(levelname)s %(run)d %(message)s"))
        handler.addFilter(OfRun(number))
        log.addHandler(handler)

    def note(self, text, *values):
        log.info(text, *values, extra={"run": self.number})

    def pay(self, rng):
        total = 0.0
        for person in range(90):
            hours = [round(rng.gauss(7.6, 0.8), 2) for _ in range(40)]
            gross = sum(hours) * 85.6
            slip = {"gross": gross, "tax": gross * 0.22, "pension": gross * 0.08, "net": gross * 0.7}
            slip["hours"] = " ".join("%.2f" % hour for hour in hours * 12)
            self.note("%s %d: %s", self.department, person, SLIP % slip)
            total += slip["net"]
        return total


def mail(department, text):
    """What the post office will be asked to send."""
    return "To: %s@hospital.example\nSubject: pay\n\n%d lines" % (department, text.count("\n"))


def main():
    rng = random.Random(2)
    paid, letters = 0.0, 0
    for number in service.rounds(per_second=5):
        run = Run(number, DEPARTMENTS[number % len(DEPARTMENTS)])
        paid += run.pay(rng)
        letters += len(mail(run.department, run.journal.getvalue())) > 0
    print("paid %.2f, letters %d" % (paid, letters))


if __name__ == "__main__":
    main()
