# SPDX-License-Identifier: Apache-2.0
"""How sure a survey of commuters is of its figures: resampled with all weights and groups."""

import numpy as np
import pandas as pd

from runner import run

WAYS = ["train", "car", "bicycle", "foot"]


def answers(seed, count=1_200):
    rng = np.random.default_rng(seed)
    way = rng.choice(4, count, p=[0.3, 0.4, 0.2, 0.1])
    frame = pd.DataFrame(
        {
            "way": pd.Categorical.from_codes(way, WAYS),
            "minutes": rng.gamma(3.0, np.array([15, 9, 7, 5])[way]).round(),
            "weight": rng.uniform(0.4, 2.2, count),
            "content": rng.integers(1, 6, count),
        }
    )
    return frame, rng


def figures(frame):
    weight = frame["weight"]
    frame = frame.assign(spent=frame["minutes"] * weight)
    ways = frame.groupby("way", observed=False)[["spent", "weight"]].sum()
    content = np.average(frame["content"], weights=weight)
    return [*(ways["spent"] / ways["weight"]), *(ways["weight"] / weight.sum()), content]


def resampled(frame, rng, rounds):
    for _ in range(rounds):
        yield figures(frame.sample(frac=1.0, replace=True, random_state=rng))


def one_pass(number, step):
    frame, rng = answers(number)
    spread = np.array(list(resampled(frame, rng, 70)))
    low, high = np.quantile(spread, [0.05, 0.95], axis=0)
    own = np.array(figures(frame))
    inside = (low <= own) & (own <= high)
    return int(inside.sum()), (high - low).tolist()


if __name__ == "__main__":
    run(one_pass)
