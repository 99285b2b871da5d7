# SPDX-License-Identifier: Apache-2.0
"""Quotes for groupage freight: consignments of parcels, priced by chargeable weight and by lane, with a label for each parcel."""

import random
from dataclasses import dataclass, field

from common import run

LANES = {"north": (0.42, 3100), "east": (0.38, 2700), "south": (0.51, 3600), "islands": (0.77, 6900)}
STEPS = ((30, 1.0), (100, 0.93), (300, 0.85), (1000, 0.78), (float("inf"), 0.7))


@dataclass
class Parcel:
    code: str
    kilos: float
    length: int
    width: int
    height: int

    def volume_kilos(self):
        return self.length * self.width * self.height / 4000.0


@dataclass
class Consignment:
    reference: str
    lane: str
    parcels: list = field(default_factory=list)
    remarks: list = field(default_factory=list)

    def add(self, parcel):
        self.parcels.append(parcel)

    @property
    def chargeable(self):
        heavier = sum(max(parcel.kilos, parcel.volume_kilos()) for parcel in self.parcels)
        return round(heavier * 2) / 2

    def discount(self):
        for limit, factor in STEPS:
            if self.chargeable <= limit:
                return factor
        return 1.0

    def price(self):
        per_kilo, least = LANES[self.lane]
        return max(least, round(100 * per_kilo * self.chargeable * self.discount()))

    def labels(self):
        total = len(self.parcels)
        for at, parcel in enumerate(self.parcels, 1):
            name = parcel.code.upper().rjust(14, "0")
            check = sum((3 if place % 2 else 1) * int(sign, 36) for place, sign in enumerate(name)) % 97
            yield f"{self.reference}/{at:03d}-{total:03d} {name}-{check:02d} {parcel.kilos:7.2f} kg {parcel.length}x{parcel.width}x{parcel.height}"

    def remark(self, text):
        self.remarks.append(text)


@dataclass
class ConsignmentFixed(Consignment):
    weighed: float = None

    def add(self, parcel):
        super().add(parcel)
        self.weighed = None

    @property
    def chargeable(self):
        if self.weighed is None:
            heavier = sum(max(parcel.kilos, parcel.volume_kilos()) for parcel in self.parcels)
            self.weighed = round(heavier * 2) / 2
        return self.weighed


def book(seed, make):
    rnd = random.Random(seed)
    for at in range(90):
        one = make(f"Q{seed:05d}{at:03d}", rnd.choice(list(LANES)))
        for _ in range(rnd.randint(10, 60)):
            code = "%010x" % rnd.getrandbits(40)
            one.add(Parcel(code, round(rnd.lognormvariate(1.5, 0.8), 2), rnd.randint(12, 110), rnd.randint(10, 70), rnd.randint(5, 60)))
        yield one


def dispatch(consignments, truck=1_900.0):
    """Heaviest first into trucks, and the sheet of each."""
    trucks, lines = [], []
    for one in sorted(consignments, key=lambda one: -one.chargeable):
        for load in trucks:
            if load[0] + one.chargeable <= truck:
                load[0] += one.chargeable
                load[1].append(one.reference)
                break
        else:
            trucks.append([one.chargeable, [one.reference]])
        one.remark("truck %d" % len(trucks))
        lines += one.labels()
    return trucks, lines


def one_pass(number, step):
    consignments = list(book(number, step))
    due = sum(one.price() for one in consignments)
    trucks, lines = dispatch(consignments)
    return due, len(trucks), trucks[0], len("".join(lines)), lines[-1]


if __name__ == "__main__":
    run(one_pass, Consignment, ConsignmentFixed)
