# SPDX-License-Identifier: Apache-2.0
"""Roughness of a road from a laser's heights: each lane is smoothed, levelled and cut into sections for the repair list."""

import numpy as np

from runner import run

LANES = 8
POINTS = 3000
SECTION = 50


def heights(rng):
    """A lane's heights in millimetres: waves of all lengths, ruts and joints."""
    wave = rng.normal(0, 0.4, POINTS).cumsum()
    wave[rng.integers(0, POINTS, 25)] += rng.normal(0, 12, 25)
    joints = np.arange(rng.integers(1, 40), POINTS, 240)
    wave[joints] -= rng.uniform(1, 5, len(joints))
    return wave


def smooth(rough):
    out = rough.copy()
    for i in range(1, len(rough) - 1):
        out[i] = (rough[i - 1] + 2 * rough[i] + rough[i + 1]) / 4
    return out


def smooth_fixed(rough):
    out = rough.copy()
    out[1:-1] = (rough[:-2] + 2 * rough[1:-1] + rough[2:]) / 4
    return out


def levelled(profile):
    """Without the long waves, that a car's springs follow anyhow."""
    spectrum = np.fft.rfft(profile - profile.mean())
    spectrum[:12] = 0
    return np.fft.irfft(spectrum, len(profile))


def ridden(profile):
    """How far a wheel's spring is pressed at each point; it swings, so that each point depends on the last."""
    pressed, swing = 0.0, 0.0
    felt = []
    for step in np.diff(profile, prepend=profile[0]).tolist():
        swing = 0.86 * swing - 0.11 * pressed + 0.5 * step
        pressed = min(40.0, max(-40.0, pressed + swing + 0.4 * step))
        felt.append(pressed)
    return np.array(felt)


def sections(profile):
    parts = ridden(profile).reshape(-1, SECTION)
    return zip(parts.std(axis=1).tolist(), np.ptp(parts, axis=1).tolist())


def one_pass(number, step):
    rng = np.random.default_rng(number)
    repairs, worst, total = [], 0.0, 0.0
    for lane in range(LANES):
        profile = levelled(step(heights(rng)))
        for section, (rough, deep) in enumerate(sections(profile)):
            total += rough
            worst = max(worst, deep)
            if rough > 3.0 or deep > 14.0:
                repairs.append("lane %d, section %d: %.2f, %.1f mm" % (lane, section, rough, deep))
    return len(repairs), worst, total, repairs[:2]


if __name__ == "__main__":
    run(one_pass, smooth, smooth_fixed)
