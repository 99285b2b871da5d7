# SPDX-License-Identifier: Apache-2.0
"""Catches of moth traps: a line for each trap and night, with how many, how many kinds, and how mixed the catch was."""

import numpy as np
import pandas as pd

from common import run

KINDS = np.array(["heart and dart", "silver y", "brimstone", "footman", "setaceous", "flame", "drinker", "hawk", "ermine", "pug"])
COLUMNS = ["trap", "night", "caught", "kinds", "shannon", "rare", "middle wing"]


def make_catches(rng, traps, nights):
    """One line for each moth, as the volunteers typed them."""
    count = rng.poisson(55, traps * nights)
    trap = np.repeat(np.arange(traps * nights) // nights, count)
    night = np.repeat(np.arange(traps * nights) % nights, count)
    lean = rng.dirichlet(np.full(len(KINDS), 0.7), traps)
    kind = np.concatenate([rng.choice(len(KINDS), (trap == which).sum(), p=lean[which]) for which in range(traps)])
    wing = rng.normal(12 + 2 * kind, 1.5)
    return pd.DataFrame({"trap": trap, "night": night, "kind": kind, "wing": wing.round(1)})


def chao(counts):
    """How many kinds there may be that nobody caught."""
    once, twice = np.count_nonzero(counts == 1), np.count_nonzero(counts == 2)
    return once * (once - 1) / (2 * (twice + 1))


def bootstrap_low(rng, counts, times=60):
    """The mixture that nineteen of twenty redrawn catches exceed."""
    total = counts.sum()
    drawn = rng.multinomial(total, counts / total, times) / total
    logs = np.log(drawn, where=drawn > 0, out=np.zeros_like(drawn))
    return np.quantile(-(drawn * logs).sum(axis=1), 0.05)


def describe(rng, trap, night, part):
    counts = np.bincount(part["kind"].to_numpy(), minlength=len(KINDS))
    return [trap, night, int(counts.sum()), int((counts > 0).sum()), bootstrap_low(rng, counts), chao(counts), part["wing"].median()]


def summarise(rng, catches):
    summary = pd.DataFrame(columns=COLUMNS)
    for (trap, night), part in catches.groupby(["trap", "night"]):
        summary.loc[len(summary)] = describe(rng, trap, night, part)
    return summary


def summarise_fixed(rng, catches):
    rows = []
    for (trap, night), part in catches.groupby(["trap", "night"]):
        rows.append(describe(rng, trap, night, part))
    return pd.DataFrame(rows, columns=COLUMNS)


def report(summary):
    """For each trap: moths a night, its most mixed night, and whether many moths mean many kinds."""
    lines = []
    for trap, nights in summary.groupby("trap"):
        caught = nights["caught"].astype(float)
        best = int(nights["night"].iloc[int(np.argmax(nights["shannon"].to_numpy(float)))])
        tied = float(np.corrcoef(caught.to_numpy(), nights["kinds"].to_numpy(float))[0, 1])
        lines.append([int(trap), float(caught.mean()), best, tied, float(nights["middle wing"].mean())])
    return lines


def one_pass(number, summarise_with):
    rng = np.random.default_rng(number)
    catches = make_catches(rng, traps=5, nights=30)
    return report(summarise_with(rng, catches))


if __name__ == "__main__":
    run(one_pass, summarise, summarise_fixed)
