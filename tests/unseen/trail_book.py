# SPDX-License-Identifier: Apache-2.0
"""Turns the tracks of a hiking club's watches into entries of its trail book."""

import numpy as np

from runner import run

EARTH = 6_371_000.0
KERNEL = np.hanning(15) / np.hanning(15).sum()


def walk(rng, points):
    heading = rng.normal(0, 0.15, points).cumsum()
    step = rng.uniform(3, 7, points)
    north = np.cumsum(step * np.cos(heading))
    east = np.cumsum(step * np.sin(heading))
    lat = 46.5 + np.degrees(north / EARTH)
    lon = 8.0 + np.degrees(east / EARTH / np.cos(np.radians(46.5)))
    height = 1_200 + rng.normal(0, 1, points).cumsum() + rng.normal(0, 2, points)
    return lat, lon, height


def smooth(values):
    padded = np.concatenate([np.full(7, values[0]), values, np.full(7, values[-1])])
    return np.convolve(padded, KERNEL, mode="valid")


def distance(lat, lon):
    lat, lon = np.radians(lat), np.radians(lon)
    half = np.sin(np.diff(lat) / 2) ** 2
    flat = np.cos(lat)
    half += flat[:-1] * flat[1:] * np.sin(np.diff(lon) / 2) ** 2
    return 2 * EARTH * np.arcsin(np.sqrt(half))


def simplify(x, y, first, last, tolerance, keep):
    """Douglas and Peucker's: what the printed map shows of the track."""
    if last - first < 2:
        return
    dx, dy = x[last] - x[first], y[last] - y[first]
    inner = slice(first + 1, last)
    off = np.abs(dx * (y[inner] - y[first]) - dy * (x[inner] - x[first])) / max(np.hypot(dx, dy), 1e-9)
    worst = int(off.argmax())
    if off[worst] > tolerance:
        middle = first + 1 + worst
        keep.append(middle)
        simplify(x, y, first, middle, tolerance, keep)
        simplify(x, y, middle, last, tolerance, keep)


def ascent(height):
    return sum(max(height[i + 1] - height[i], 0.0) for i in range(len(height) - 1))


def ascent_fixed(height):
    return np.diff(height).clip(0.0).sum()


def entry(track, climb):
    lat, lon, height = track
    height = smooth(height)
    legs = distance(lat, lon)
    gained = float(climb(height))
    hours = legs.sum() / 4_500 + gained / 600
    keep = [0, len(lat) - 1]
    simplify((lon - 8.0) * 76_000, (lat - 46.5) * 111_000, 0, len(lat) - 1, 12.0, keep)
    steepest = float(np.abs(np.diff(height) / legs).max())
    return float(legs.sum()), gained, hours, steepest, len(keep)


def one_pass(number, climb):
    rng = np.random.default_rng(number)
    return [entry(walk(rng, int(rng.integers(1_000, 3_000))), climb) for _ in range(40)]


if __name__ == "__main__":
    run(one_pass, ascent, ascent_fixed)
