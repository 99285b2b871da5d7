# SPDX-License-Identifier: Apache-2.0
"""Turns the water levels of a weir into flows by a table of gaugings, day by day, and adds up a hydropower season."""

import numpy as np

from runner import run

DAYS = 120
GAUGINGS = 2500
PER_DAY = 288


class Rating:
    """Stage against flow, kept in ascending order as gauging parties bring it."""

    def __init__(self):
        self.stages = []
        self.flows = []

    def enter(self, stage, flow):
        if self.stages and stage <= self.stages[-1]:
            return
        self.stages.append(stage)
        self.flows.append(max(flow, self.flows[-1]) if self.flows else flow)

    def close(self):
        return self

    def flow(self, levels):
        return np.interp(levels, np.asarray(self.stages), np.asarray(self.flows))


class RatingFixed(Rating):
    def close(self):
        self.stage_array = np.asarray(self.stages)
        self.flow_array = np.asarray(self.flows)
        return self

    def flow(self, levels):
        return np.interp(levels, self.stage_array, self.flow_array)


def gaugings(seed):
    rng = np.random.default_rng(seed)
    stages = np.sort(rng.uniform(0.1, 4.5, GAUGINGS))
    flows = 18 * stages**1.6 * rng.normal(1, 0.02, GAUGINGS)
    return zip(stages.tolist(), flows.tolist())


def levels_of(rng, day):
    season = 1.9 + 1.1 * np.sin(day / 19)
    return np.clip(season + rng.normal(0, 0.01, PER_DAY).cumsum(), 0.2, 4.4)


def turbined(flow, head):
    """Megawatts, with a turbine that takes 12 to 95 cubic metres a second."""
    taken = np.where(flow < 12, 0.0, np.minimum(flow, 95))
    part = taken / 95
    efficiency = 0.93 - 0.25 * (1 - part) ** 3
    return 9.81e-3 * taken * head * efficiency


def season(rating, seed):
    rng = np.random.default_rng(50000 + seed)
    energy, spilt, lows = 0.0, 0.0, []
    for day in range(DAYS):
        levels = levels_of(rng, day)
        flow = rating.flow(levels)
        power = turbined(flow, 22.5 - 0.3 * levels)
        energy += power.sum() / 12
        spilt += np.maximum(flow - 95, 0).sum() * 300
        lows.append(np.percentile(flow, 5))
    return float(energy), float(spilt), float(np.median(lows))


def one_pass(number, step):
    rating = step()
    for stage, flow in gaugings(number):
        rating.enter(stage, flow)
    return season(rating.close(), number)


if __name__ == "__main__":
    run(one_pass, Rating, RatingFixed)
