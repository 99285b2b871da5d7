# SPDX-License-Identifier: Apache-2.0
"""Dwell times of parcels at the depots, out of the scanners' JSON lines."""

import json
import random
from datetime import datetime, timedelta

from common import run

DAY = "%d.%m.%Y"
DEPOTS = ("Hamm", "Lille", "Graz", "Brno", "Turku", "Porto")


def scanner_log(seed, parcels):
    rng = random.Random(seed)
    base = datetime(2024, 1 + seed % 12, 1 + seed % 28, 6)
    lines = []
    for parcel in range(parcels):
        when = base + timedelta(minutes=rng.randrange(20_000))
        for depot in rng.sample(DEPOTS, rng.randrange(2, 6)):
            for kind in ("in", "out"):
                when += timedelta(minutes=rng.randrange(5, 900))
                scan = {"parcel": "P%06d" % parcel, "depot": depot, "kind": kind, "at": when.isoformat()}
                lines.append(json.dumps(scan))
    since = (base + timedelta(days=1 + seed % 5)).strftime(DAY)
    return lines, since


def recent(lines, since):
    kept = []
    for line in lines:
        scan = json.loads(line)
        when = datetime.fromisoformat(scan["at"])
        if when >= datetime.strptime(since, DAY):
            kept.append((when, scan["parcel"], scan["depot"], scan["kind"]))
    return kept


def recent_fixed(lines, since):
    kept = []
    first = datetime.strptime(since, DAY)
    for line in lines:
        scan = json.loads(line)
        when = datetime.fromisoformat(scan["at"])
        if when >= first:
            kept.append((when, scan["parcel"], scan["depot"], scan["kind"]))
    return kept


def dwell(scans):
    arrived, minutes = {}, {depot: [] for depot in DEPOTS}
    for when, parcel, depot, kind in sorted(scans):
        if kind == "in":
            arrived[parcel, depot] = when
        elif (parcel, depot) in arrived:
            stayed = when - arrived.pop((parcel, depot))
            minutes[depot].append(stayed.total_seconds() / 60)
    return minutes


def report(minutes):
    rows = []
    for depot, stays in minutes.items():
        stays.sort()
        if stays:
            middle, late = stays[len(stays) // 2], stays[len(stays) * 9 // 10]
            rows.append("%-8s %6d %8.1f %8.1f" % (depot, len(stays), middle, late))
    return "\n".join(rows)


def one_pass(number, select):
    lines, since = scanner_log(number, 1500)
    scans = select(lines, since)
    return len(scans), report(dwell(scans))


if __name__ == "__main__":
    run(one_pass, recent, recent_fixed)
