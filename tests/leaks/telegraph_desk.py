# SPDX-License-Identifier: Apache-2.0
"""Parses weather telegrams as fast as they come: groups of digits become values, values become a station's report."""
import random

import service

KINDS = {"1": "temperature", "2": "dew point", "3": "pressure", "5": "tendency", "6": "rain", "7": "weather"}


class Report:
    def __init__(self, station):
        self.station = station
        self.values = {}

    def add(self, kind, value):
        self.values[kind] = value

    def line(self):
        return "%s %s" % (self.station, " ".join("%s=%.1f" % entry for entry in sorted(self.values.items())))


def telegram(rng):
    groups = ["%05d" % rng.randrange(100000)]
    groups += ["%s%04d" % (kind, rng.randrange(10000)) for kind in KINDS]
    return " ".join(groups) + "="


def parse(text):
    groups = text.rstrip("=").split()
    report = Report(groups[0])
    for group in groups[1:]:
        kind = KINDS.get(group[0])
        if kind:
            sign = -1 if group[1] == "1" else 1
            report.add(kind, sign * int(group[2:]) / 10)
    return report


def bulletin(reports):
    return "\n".join(report.line() for report in reports)


def main():
    rng = random.Random(97)
    texts = [telegram(rng) for _ in range(400)]
    characters = 0
    for _ in service.rounds():
        reports = [parse(text) for text in texts]
        characters += len(bulletin(reports))
        texts = [telegram(rng) for _ in range(400)]
    print("characters %d" % characters)


if __name__ == "__main__":
    main()
