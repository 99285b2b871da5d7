# SPDX-License-Identifier: Apache-2.0
"""Stacks a seismic gather: each trace is moved by its delay and added to the others."""

import numpy as np

from common import run

RATE = 500.0


def ricker(length, peak):
    t = (np.arange(length) - length // 2) / RATE
    a = (np.pi * peak * t) ** 2
    return (1 - 2 * a) * np.exp(-a)


def make_gather(rng, traces, samples):
    """Traces of growing offset over three layers, with noise."""
    offsets = np.linspace(50, 1500, traces)
    wave = ricker(61, rng.uniform(22, 34))
    gather = rng.normal(0, 0.3, (traces, samples))
    starts = np.sort(rng.uniform(0.15, 0.5, 3))
    speeds = rng.uniform(1800, 3200, 3)
    for start, speed in zip(starts, speeds):
        arrivals = np.sqrt(start**2 + (offsets / speed) ** 2)
        for trace, arrival in enumerate((arrivals * RATE).astype(int)):
            if arrival + 61 < samples:
                gather[trace, arrival : arrival + 61] += wave
    return gather, offsets


def delays(offsets, start, speed):
    return ((np.sqrt(start**2 + (offsets / speed) ** 2) - start) * RATE).astype(int)


def stack(gather, shifts, window):
    total = np.zeros(window)
    for trace, shift in enumerate(shifts):
        for k in range(window):
            total[k] += gather[trace, shift + k]
    return total / len(shifts)


def stack_fixed(gather, shifts, window):
    total = np.zeros(window)
    for trace, shift in enumerate(shifts):
        total += gather[trace, shift : shift + window]
    return total / len(shifts)


def semblance(gather, shifts, window):
    power = 0.0
    for trace, shift in enumerate(shifts):
        part = gather[trace, shift : shift + window]
        power += float(part @ part)
    return power


def scan(gather, offsets, adder, window=220):
    best = []
    for speed in np.linspace(1700, 3300, 9):
        shifts = delays(offsets, 0.3, speed)
        total = adder(gather, shifts, window)
        power = semblance(gather, shifts, window)
        best.append((len(shifts) * float(total @ total) / power, float(speed)))
    return max(best)


def envelope(gather):
    spectrum = np.fft.fft(gather, axis=1)
    spectrum[:, gather.shape[1] // 2 :] = 0
    return np.abs(np.fft.ifft(2 * spectrum, axis=1))


def one_pass(number, adder):
    rng = np.random.default_rng(number)
    found = []
    gather, offsets = make_gather(rng, 32, 900)
    found.extend(scan(gather, offsets, adder))
    for _ in range(8):
        noisy = gather + rng.normal(0, 0.1, gather.shape)
        found.append(float(np.percentile(envelope(noisy), 99)))
    return found


if __name__ == "__main__":
    run(one_pass, stack, stack_fixed)
