# SPDX-License-Identifier: Apache-2.0
"""Flood events at a river gauge: rain that fell before each peak, for several lags."""

import numpy as np

from common import run


def make_rain(rng, hours):
    wet = rng.random(hours) < 0.08
    return np.where(wet, rng.gamma(0.7, 3.0, hours), 0.0)


def route(rain, rng):
    """A chain of three leaking stores, as an impulse response."""
    t = np.arange(200)
    speed = rng.uniform(10, 18)
    answer = t**2 * np.exp(-t / speed)
    flow = np.convolve(rain, answer / answer.sum())[: len(rain)]
    return flow + rng.normal(0, 0.002, len(rain))


def peaks(flow, apart=6):
    high = np.quantile(flow, 0.6)
    candidates = np.flatnonzero((flow[1:-1] > flow[:-2]) & (flow[1:-1] >= flow[2:]) & (flow[1:-1] > high)) + 1
    chosen, last = [], -apart
    for hour in candidates:
        if hour - last >= apart:
            chosen.append(int(hour))
            last = hour
    return chosen


def wetness(rain, hours, length):
    before = np.empty(len(hours))
    for k, hour in enumerate(hours):
        before[k] = rain[max(0, hour - length) : hour].sum()
    return before


def wetness_fixed(rain, hours, length):
    upto = np.concatenate([[0.0], np.cumsum(rain)])
    hours = np.asarray(hours)
    return upto[hours] - upto[np.maximum(0, hours - length)]


def fit(flow, hours, terms):
    design = np.column_stack([np.ones(len(hours)), *terms])
    weights, _, _, _ = np.linalg.lstsq(design, flow[hours], rcond=None)
    return weights, flow[hours] - design @ weights


def one_pass(number, rain_before):
    rng = np.random.default_rng(number)
    rain = make_rain(rng, 20_000)
    flow = route(rain, rng)
    hours = peaks(flow)
    errors = []
    for year in range(6):
        drawn = sorted(rng.choice(hours, len(hours) * 3 // 4, replace=False))
        terms = [rain_before(rain, drawn, length) for length in (24, 72, 240, 1440)]
        weights, misfit = fit(flow, drawn, terms)
        levels = np.sort(np.abs(misfit))
        errors += [float(levels[-1]), float(levels[len(levels) // 2]), float(weights.sum())]
    return errors


if __name__ == "__main__":
    run(one_pass, wetness, wetness_fixed)
