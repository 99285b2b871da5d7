# SPDX-License-Identifier: Apache-2.0
"""Night moths counted by light traps: sightings come in one by one, each species keeps its wingspans, and outliers are queried."""

import random
from dataclasses import dataclass, field

import numpy as np

from runner import run

SPECIES = ("hawk", "tiger", "emerald", "footman", "prominent", "carpet", "rustic", "underwing")


@dataclass
class Sighting:
    number: int
    trap: str
    species: str
    span: float
    hour: int


class Record:
    """What is known of one species."""

    def __init__(self):
        self.spans = np.empty(0)
        self.mean = 0.0
        self.spread = 0.0
        self.hours = [0] * 12

    def add(self, span, hour):
        self.spans = np.append(self.spans, span)
        count = len(self.spans)
        off = span - self.mean
        self.mean += off / count
        self.spread += off * (span - self.mean)
        self.hours[hour] += 1

    def strange(self, span):
        count = len(self.spans)
        return count > 20 and abs(span - self.mean) > 2.8 * (self.spread / count) ** 0.5

    def measured(self):
        return self.spans

    def quartiles(self):
        return [float(value) for value in np.percentile(self.measured(), (25, 50, 75))]


class RecordFixed(Record):
    def __init__(self):
        super().__init__()
        self.spans = []

    def add(self, span, hour):
        self.spans.append(span)
        count = len(self.spans)
        off = span - self.mean
        self.mean += off / count
        self.spread += off * (span - self.mean)
        self.hours[hour] += 1

    def measured(self):
        return np.array(self.spans)


@dataclass
class Census:
    make: type
    records: dict = field(default_factory=dict)
    queries: list = field(default_factory=list)
    traps: dict = field(default_factory=dict)

    def enter(self, sighting):
        record = self.records.get(sighting.species)
        if record is None:
            record = self.records[sighting.species] = self.make()
        if record.strange(sighting.span):
            self.queries.append(f"{sighting.number:06d} {sighting.trap} {sighting.species} {sighting.span:.1f} mm, mean {record.mean:.2f}")
        record.add(sighting.span, sighting.hour)
        seen = self.traps.setdefault(sighting.trap, {})
        seen[sighting.species] = seen.get(sighting.species, 0) + 1

    def variety(self, trap):
        counts = np.array(list(self.traps[trap].values()), dtype=float)
        share = counts / counts.sum()
        return float(-(share * np.log(share)).sum())


def night(seed):
    rnd = random.Random(seed)
    usual = {name: (rnd.uniform(22, 95), rnd.uniform(1.5, 6.0)) for name in SPECIES}
    for at in range(2_400):
        name = rnd.choices(SPECIES, cum_weights=(1, 3, 6, 10, 15, 21, 28, 36))[0]
        mean, spread = usual[name]
        yield Sighting(seed * 10_000 + at, "T%02d" % rnd.randrange(15), name, round(rnd.gauss(mean, spread), 1), min(11, int(rnd.expovariate(0.4))))


def one_pass(number, step):
    census = Census(step)
    for sighting in night(number):
        census.enter(sighting)
    varieties = [census.variety(trap) for trap in sorted(census.traps)]
    return [census.records[name].quartiles() for name in SPECIES], varieties, len(census.queries), census.queries[:2]


if __name__ == "__main__":
    run(one_pass, Record, RecordFixed)
