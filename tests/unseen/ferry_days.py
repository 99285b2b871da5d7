# SPDX-License-Identifier: Apache-2.0
"""A ferry line's season: the days of each route, how late it sails in what wind, and its busy weeks."""

import numpy as np
import pandas as pd

from runner import run

ROUTES = {"Skarv": 1.0, "Lunde": 0.7, "Tern": 0.9, "Holm": 0.4}
CARRIED = ["cars", "foot", "takings"]


def season(rng):
    """The winds of every hour, and for each route a table of its sailings."""
    start = pd.Timestamp(int(rng.integers(2015, 2025)), int(rng.integers(4, 7)), 1)
    hours = 24 * 110
    gusts = 6 + np.abs(np.convolve(rng.normal(0, 6, hours + 11), np.ones(12) / 3, "valid"))
    winds = pd.DataFrame({"hour": pd.date_range(start, periods=hours, freq="h"), "gust": gusts})
    sailings = {}
    for route, share in ROUTES.items():
        count = int(7000 * share)
        minutes = np.sort(rng.integers(0, hours * 60, count))
        cars = rng.poisson(18 * share, count)
        foot = rng.poisson(40 * share, count)
        sailings[route] = pd.DataFrame(
            {
                "left": start + pd.to_timedelta(minutes * 60 + rng.integers(0, 60, count), unit="s"),
                "cars": cars,
                "foot": foot,
                "takings": 14.5 * cars + 4.2 * foot * rng.uniform(0.8, 1.0, count),
                "late": rng.gamma(1.5, 3.0, count),
            }
        ).sort_values("left", ignore_index=True)
    return winds, sailings


def slots(sailings):
    """The hour of the week of every sailing, to tell a usual delay by."""
    return {route: frame["left"].dt.strftime("%a %H") for route, frame in sailings.items()}


def slots_fixed(sailings):
    return {
        route: frame["left"].dt.day_of_week * 24 + frame["left"].dt.hour for route, frame in sailings.items()
    }


def daily(sailings):
    return {
        route: frame.groupby(frame["left"].dt.normalize())[CARRIED].sum()
        for route, frame in sailings.items()
    }


def in_wind(frame, slot, winds):
    """Minutes late by the strength of the last measured gust, with the hour of the week's usual taken off."""
    blown = pd.merge_asof(frame, winds, left_on="left", right_on="hour", direction="backward")
    beyond = blown["late"] * (1 + blown["gust"] / 30)
    beyond = beyond - beyond.groupby(slot).transform("median")
    force = pd.cut(blown["gust"], [0, 8, 14, 20, np.inf], labels=False)
    return beyond.groupby(force).quantile([0.5, 0.9])


def busiest(days):
    """The best seven days on end, and the day of the week on which the most cars cross."""
    week = days["takings"].rolling("7D").sum()
    by_weekday = days["cars"].groupby(days.index.day_of_week).mean()
    return week.idxmax().isoformat(), float(week.max()), int(by_weekday.idxmax())


def crowding(frame):
    """Who walked on within the hour before each sailing, at most and on the whole, and the worst watch."""
    timed = frame.set_index("left")
    walked = timed["foot"].rolling("60min").sum()
    behind = timed["late"].rolling("6h").quantile(0.75)
    return float(walked.max()), float(walked.ewm(span=50).mean().max()), float(behind.max())


def one_pass(number, hour_of_week):
    rng = np.random.default_rng(number)
    winds, sailings = season(rng)
    days = daily(sailings)
    usual = hour_of_week(sailings)
    reports = []
    for route, frame in sailings.items():
        late = in_wind(frame, usual[route], winds)
        reports.append((busiest(days[route]), crowding(frame), late.tolist(), len(days[route])))
    whole = pd.concat(days, names=["route", "day"])["takings"].unstack("route").fillna(0.0)
    kin = whole.corr(method="spearman").to_numpy()
    return reports, kin.ravel().tolist()


if __name__ == "__main__":
    run(one_pass, slots, slots_fixed)
