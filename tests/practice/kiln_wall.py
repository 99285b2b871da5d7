# SPDX-License-Identifier: Apache-2.0
"""Heat through the wall of a pottery kiln during a firing: brick, wool and shell, cell by cell."""

import math

import numpy as np

from common import run

CELLS = 14
STEPS = 2_500


def wall(rng):
    conduct = np.concatenate((np.full(6, 1.4), np.full(5, 0.12), np.full(3, 0.9)))
    return conduct * rng.uniform(0.08, 0.12)


def warm(now, then, conduct):
    for cell in range(1, CELLS - 1):
        then[cell] = now[cell] + conduct[cell] * (now[cell - 1] - 2 * now[cell] + now[cell + 1])


def warm_fixed(now, then, conduct):
    then[1:-1] = now[1:-1] + conduct[1:-1] * (now[:-2] - 2 * now[1:-1] + now[2:])


def firing(at):
    """What the burner is set to give: up, hold, down."""
    if at < 0.4:
        return 20 + 1180 * math.sin(at / 0.4 * math.pi / 2)
    if at < 0.7:
        return 1200.0
    return 1200 * math.exp(-(at - 0.7) * 4)


def one_pass(number, step):
    rng = np.random.default_rng(number)
    conduct = wall(rng)
    now, then = np.full(CELLS, 20.0), np.full(CELLS, 20.0)
    draught = rng.normal(0, 3, STEPS).tolist()
    lost, hottest, reports = 0.0, 0.0, []
    stress = np.empty(CELLS - 1)
    for at in range(STEPS):
        step(now, then, conduct)
        inside = firing(at / STEPS) + draught[at]
        then[0] = inside
        shell = float(then[-2])
        then[-1] = shell - 0.05 * (shell - 20) - 5.67e-11 * ((shell + 273) ** 4 - 293**4)
        lost += 11.0 * (shell - 20)
        np.subtract(then[1:], then[:-1], out=stress)
        np.abs(stress, out=stress)
        hottest = max(hottest, float(stress.max()))
        if at % 25 == 0:
            ranks = np.sort(then)
            reports.append(f"{at:5} {inside:7.1f} {shell:6.1f} {ranks[CELLS // 2]:7.1f} {then.std():7.1f}")
        now, then = then, now
    return lost, hottest, len(reports), now.tolist()


if __name__ == "__main__":
    run(one_pass, warm, warm_fixed)
