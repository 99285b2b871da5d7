# SPDX-License-Identifier: Apache-2.0
"""A climbing hall's season: how hard each route really is, from the attempts of those who tried it."""

import numpy as np
import pandas as pd

from common import run

CLIMBERS, ROUTES, ATTEMPTS = 240, 300, 12_000


def make_season(seed):
    rng = np.random.default_rng(seed)
    skill, grade = rng.normal(0, 1.2, CLIMBERS), rng.normal(0, 1.4, ROUTES)
    climber, route = rng.integers(0, CLIMBERS, ATTEMPTS), rng.integers(0, ROUTES, ATTEMPTS)
    holds = np.clip(18 + 6 * (skill[climber] - grade[route]) + rng.normal(0, 3, ATTEMPTS), 0, 30).round()
    return pd.DataFrame(
        {
            "climber": climber,
            "route": route,
            "day": rng.integers(0, 120, ATTEMPTS),
            "holds": holds,
            "seconds": rng.gamma(4, 30, ATTEMPTS),
        }
    )


def centred(attempts):
    """Holds above what this climber reaches on average."""
    usual = attempts.groupby("climber")["holds"].transform(lambda reached: reached.mean())
    return attempts["holds"] - usual


def centred_fixed(attempts):
    usual = attempts.groupby("climber")["holds"].transform("mean")
    return attempts["holds"] - usual


def first_tries(attempts):
    ordered = attempts.sort_values(["climber", "route", "day"], kind="stable")
    return ordered.drop_duplicates(["climber", "route"])


def ratings(attempts, rounds=90):
    """Climbers' and routes' levels in turn, each the mean of what the other leaves."""
    climber, route = attempts["climber"].to_numpy(), attempts["route"].to_numpy()
    above = attempts["above"].to_numpy()
    tried = np.maximum(np.bincount(route, minlength=ROUTES), 1)
    went = np.maximum(np.bincount(climber, minlength=CLIMBERS), 1)
    form, level = np.zeros(CLIMBERS), np.zeros(ROUTES)
    for _ in range(rounds):
        level = np.bincount(route, form[climber] - above, minlength=ROUTES) / tried
        form = np.bincount(climber, above + level[route], minlength=CLIMBERS) / went
    return level, form


def board(attempts, level):
    """The chalk board: for every route its level, its fastest try and who made it."""
    lines = []
    fastest = attempts.loc[attempts.groupby("route")["seconds"].idxmin()]
    for row in fastest.itertuples(index=False):
        grade = "%+.1f" % level[row.route]
        lines.append("route %03d %5s %6.1f s climber %d" % (row.route, grade, row.seconds, row.climber))
    return lines


def one_pass(number, above_of):
    attempts = make_season(number)
    attempts["above"] = above_of(attempts)
    first = first_tries(attempts)
    level, form = ratings(first)
    weekly = attempts.groupby([attempts["day"] // 7, "route"])["holds"].max().unstack()
    lines = board(attempts, level)
    return [float(np.ptp(level)), int(form.argmax()), float(weekly.diff().mean().sum()), len(first), lines[:3]]


if __name__ == "__main__":
    run(one_pass, centred, centred_fixed)
