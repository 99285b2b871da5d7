# SPDX-License-Identifier: Apache-2.0
"""Hot cells of solar panels in the frames of a drone's thermal camera; a few panels are watched in each frame."""

import numpy as np

from common import run

HIGH, WIDE = 192, 256
PANEL = 14, 18


class Camera:
    """Counts to degrees by the maker's formula."""

    gain, bend, add, offset = 1.36e6, 1430.0, 1.0, -3800.0

    def degrees(self, counts):
        radiance = (counts - self.offset) / self.gain
        return self.bend / np.log(self.add / radiance + 1.0) - 273.15


def make_scene(rng):
    """Counts without noise: a slope of warmth, rows of panels, a few bad cells."""
    scene = 7000 + 300 * np.linspace(0, 1, HIGH + 16)[:, None] + 120 * np.linspace(0, 1, WIDE + 16)
    corners = []
    for top in range(20, HIGH - 20, 32):
        for left in range(20, WIDE - 24, 48):
            scene[top : top + PANEL[0], left : left + PANEL[1]] += 500 + 60 * rng.normal()
            corners.append((top, left))
    for which in rng.choice(len(corners), 6, replace=False):
        top, left = corners[which]
        scene[top + 4 : top + 7, left + 5 : left + 9] += rng.uniform(200, 900)
    watched = rng.choice(len(corners), 8, replace=False)
    return scene, [corners[which] for which in sorted(watched)]


def make_frame(rng, scene):
    """The drone drifts by some pixels."""
    down, right = (int(way) for way in rng.integers(0, 9, 2))
    noise = rng.integers(-12, 13, (HIGH, WIDE), dtype=np.int16)
    return (scene[down : down + HIGH, right : right + WIDE] + noise).astype(np.uint16)


def profile(frame, axis):
    line = frame.mean(axis=axis)
    return line - line.mean()


def drift(reference, frame):
    """How far the frame has moved, each way, by the means of its rows and columns and those of the reference."""
    moved = []
    for axis, first in zip((1, 0), reference):
        second = profile(frame, axis)
        fits = [float(first[8:-8] @ second[8 - by : len(second) - 8 - by]) for by in range(-8, 9)]
        moved.append(int(np.argmax(fits)) - 8)
    return moved


def panels(frame, camera, places):
    degrees = camera.degrees(frame)
    for top, left in places:
        yield degrees[top : top + PANEL[0], left : left + PANEL[1]]


def panels_fixed(frame, camera, places):
    for top, left in places:
        yield camera.degrees(frame[top : top + PANEL[0], left : left + PANEL[1]])


def survey(rng, camera, read_panels, frames):
    scene, watched = make_scene(rng)
    middle = scene[4 : 4 + HIGH, 4 : 4 + WIDE]
    reference = [profile(middle, axis) for axis in (1, 0)]
    warmest = np.full(len(watched), -np.inf)
    total = np.zeros(len(watched))
    for _ in range(frames):
        frame = make_frame(rng, scene)
        down, right = drift(reference, frame)
        places = [(max(0, top - 4 - down), max(0, left - 4 - right)) for top, left in watched]
        for which, panel in enumerate(read_panels(frame, camera, places)):
            total[which] += panel.mean()
            warmest[which] = max(warmest[which], panel.max() - np.median(panel))
    return int((warmest > 6).sum()), float((total / frames).mean()), float(warmest.max())


def one_pass(number, read_panels):
    return survey(np.random.default_rng(number), Camera(), read_panels, 20)


if __name__ == "__main__":
    run(one_pass, panels, panels_fixed)
