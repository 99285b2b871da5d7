# SPDX-License-Identifier: Apache-2.0
"""A town's hire cycles: for every dock how its stock runs through the day and when it has to be filled up."""

import numpy as np
import pandas as pd

from runner import run

RIDES = 9000
STREETS = ("Abbey", "Bell", "Canal", "Drover", "Elm", "Fuller", "Garden", "Hythe", "Infirmary", "Jubilee")
ENDS = ("North", "South", "East", "West", "Upper", "Lower", "Old")


def a_day(seed):
    rng = np.random.default_rng(seed)
    names = np.array(["%s %s" % (street, end) for street in STREETS for end in ENDS])
    rush = rng.choice([510, 760, 1050], RIDES) + rng.normal(0, 70, RIDES)
    return names.tolist(), pd.DataFrame(
        {
            "dock": names[rng.integers(0, len(names), RIDES)],
            "minute": np.clip(rush, 0, 1439).astype(int),
            "bikes": rng.choice([-1, 1], RIDES),
            "member": rng.random(RIDES) < 0.8,
        }
    )


class Town:
    def __init__(self, names, rides):
        self.names = names
        self.rides = rides.sort_values("minute", kind="stable")

    def dock_rides(self):
        for name in self.names:
            yield name, self.rides[self.rides["dock"] == name]


class TownFixed(Town):
    def dock_rides(self):
        apart = dict(list(self.rides.groupby("dock")))
        for name in self.names:
            yield name, apart[name]


def stock(rides, start=14):
    """The stock after each ride, as the van fills up what gets short and takes away what is too much."""
    level, visits = start, 0
    levels = []
    for change in rides["bikes"].tolist():
        level += change
        if not 2 <= level <= 26:
            level = start
            visits += 1
        levels.append(level)
    return levels, visits


def quiet(minutes):
    """The longest time without a ride, by its beginning."""
    gaps = np.diff(minutes)
    longest = int(gaps.argmax())
    return int(gaps[longest]), int(minutes[longest])


def report(name, rides):
    minutes = rides["minute"].to_numpy()
    levels, visits = stock(rides)
    by_hour = np.bincount(minutes // 60, minlength=24)
    return (
        name,
        min(levels),
        visits,
        int(by_hour.argmax()),
        quiet(minutes),
        round(float(rides["member"].mean()), 4),
    )


def one_pass(number, step):
    names, rides = a_day(number)
    town = step(names, rides)
    reports = [report(name, mine) for name, mine in town.dock_rides()]
    reports.sort(key=lambda one: (-one[2], one[1], one[0]))
    return reports


if __name__ == "__main__":
    run(one_pass, Town, TownFixed)
