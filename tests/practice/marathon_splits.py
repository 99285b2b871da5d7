# SPDX-License-Identifier: Apache-2.0
"""Certificates of a marathon: every runner of a club reads how he or she did against the field, split by split."""

import numpy as np
import pandas as pd

from common import run

RUNNERS, SPLITS = 6_000, ["km10", "half", "km30", "finish"]
DRAWS = 5_000


def make_race(seed):
    rng = np.random.default_rng(seed)
    pace = rng.normal(5.8, 0.9, RUNNERS).clip(3.2, 9.5)
    race = pd.DataFrame({"bib": rng.permutation(RUNNERS) + 1, "sex": rng.choice(["f", "m"], RUNNERS, p=[0.4, 0.6])})
    for name, km in zip(SPLITS, (10, 21.1, 30, 42.2)):
        race[name] = (pace * km * (1 + 0.003 * km) + rng.normal(0, 1.5, RUNNERS)).round(2)
    race["club"] = rng.integers(0, 150, RUNNERS)
    race["out"] = rng.random(RUNNERS) < 0.04
    return race


def against_field(race, club):
    """Minutes before or behind the mean of all who finished."""
    behind = []
    for runner in club.itertuples(index=False):
        mean = race[~race["out"]]["finish"].mean()
        behind.append(runner.finish - mean)
    return behind


def against_field_fixed(race, club):
    mean = race[~race["out"]]["finish"].mean()
    return [runner.finish - mean for runner in club.itertuples(index=False)]


def places(race):
    ran = race[~race["out"]]
    return ran.groupby("sex")["finish"].rank(method="min").astype(int).set_axis(ran["bib"]).to_dict()


def evenness(club):
    """How far the second half was slower, and the steadiest stretch."""
    times = club[SPLITS].to_numpy()
    first, second = times[:, 1], times[:, 3] - times[:, 1]
    stretches = np.diff(times, axis=1, prepend=0) / np.array([10, 11.1, 8.9, 12.2])
    return second / first - 1, stretches.argmin(axis=1)


def forecast(rng, minutes):
    """Next year's finish by drawing training years."""
    drawn = minutes * rng.normal(0.985, 0.03, DRAWS) + rng.exponential(2.0, DRAWS)
    return np.quantile(drawn, [0.1, 0.5, 0.9])


def clock(minutes):
    return "%d:%02d:%02d" % (minutes // 60, minutes % 60, minutes * 60 % 60)


def certificates(rng, race, number, place, compare):
    club = race[(race["club"] == number) & ~race["out"]].sort_values("finish").head(40)
    behind = compare(race, club)
    slower, steady = evenness(club)
    lines = []
    for n, runner in enumerate(club.itertuples(index=False)):
        low, middle, high = forecast(rng, runner.finish)
        line = "%05d %s place %d, %+.1f min" % (runner.bib, clock(runner.finish), place[runner.bib], behind[n])
        line += ", half %+.0f%%, best %s" % (100 * slower[n], SPLITS[steady[n]])
        lines.append(line + ", next %s to %s, likely %s" % (clock(low), clock(high), clock(middle)))
    return lines, sum(behind)


def one_pass(number, compare):
    rng = np.random.default_rng(number + 5)
    race = make_race(number)
    place = places(race)
    out = []
    for club in rng.choice(150, 3, replace=False):
        lines, behind = certificates(rng, race, club, place, compare)
        out.append([len(lines), float(behind), lines[0]])
    return out


if __name__ == "__main__":
    run(one_pass, against_field, against_field_fixed)
