# SPDX-License-Identifier: Apache-2.0
"""Control charts for a welding line: means and limits of each seam's readings."""

import csv
import io
import random
import statistics

from common import run

COLUMNS = ["i%02d" % n for n in range(24)]


def make_report(rng, seams):
    """The line's CSV: one seam a row, currents in amperes."""
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(["seam", "robot", "wire"] + COLUMNS)
    for seam in range(seams):
        centre = rng.gauss(182, 4)
        writer.writerow(
            ["S%05d" % seam, "R%d" % rng.randrange(5), rng.choice(("G3Si1", "G4Si1"))]
            + ["%.2f" % rng.gauss(centre, 2.5) for _ in range(24)]
        )
    return text.getvalue()


def smooth(values, weight=0.3):
    level = values[0]
    levels = []
    for value in values:
        level += weight * (value - level)
        levels.append(level)
    return levels


def runs_above(values, centre):
    longest = length = 0
    for value in values:
        length = length + 1 if value > centre else 0
        longest = max(longest, length)
    return longest


def centre_of(values):
    return statistics.mean(values)


def centre_of_fixed(values):
    return statistics.fmean(values)


def chart(report, centre_of_values):
    robots = {}
    for row in csv.DictReader(io.StringIO(report)):
        currents = [float(row[column]) for column in COLUMNS]
        levels = smooth(currents)
        centre = centre_of_values(currents)
        spread = max(currents) - min(currents)
        seams = robots.setdefault((row["robot"], row["wire"]), [])
        seams.append((centre, spread, levels[-1], runs_above(currents, centre)))
    return robots


def limits(seams):
    centres = [seam[0] for seam in seams]
    spreads = [seam[1] for seam in seams]
    middle, width = statistics.fmean(centres), statistics.fmean(spreads)
    outside = sum(abs(centre - middle) > 0.9 * width for centre in centres)
    return [middle, width, outside, max(seam[3] for seam in seams)]


def one_pass(number, centre_of_values):
    rng = random.Random(number)
    robots = chart(make_report(rng, 500), centre_of_values)
    return [[*key, *limits(seams)] for key, seams in sorted(robots.items())]


if __name__ == "__main__":
    run(one_pass, centre_of, centre_of_fixed)
