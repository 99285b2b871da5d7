# SPDX-License-Identifier: Apache-2.0
"""A leaded church window of panes of many kinds: the light through each of its frames, hour by hour."""

import math

import numpy as np

from common import run

ROWS, COLUMNS = 14, 22
INDEX = 1.52  # of refraction
COLOURS = (0.7, 1.0, 1.6)  # red, green, blue: how much more of each the glass keeps back


class Pane:
    def __init__(self, thickness, tint):
        self.thickness = thickness
        self.tint = tint
        self.dust = 0.0

    def light(self, cosine, hour):
        """What passes both faces and the glass at this angle; dust gathers from hour to hour."""
        self.dust += 1e-4 * hour
        inside = math.sqrt(1 - (1 - cosine * cosine) / INDEX**2)
        across = ((cosine - INDEX * inside) / (cosine + INDEX * inside)) ** 2
        along = ((INDEX * cosine - inside) / (INDEX * cosine + inside)) ** 2
        faces = 0.5 * ((1 - across) ** 2 + (1 - along) ** 2)
        depth = -self.tint * self.thickness / inside
        colours = sum([math.exp(colour * depth) for colour in COLOURS]) / 3
        return faces * colours * (1 - min(self.dust, 0.3))

    def lead(self):
        return 4.0


class Roundel(Pane):
    def light(self, cosine, hour):
        rim = 0.15 * self.thickness
        return super().light(cosine, hour) * (1 - rim) + rim * math.sqrt(abs(cosine))

    def lead(self):
        return math.pi


class Quarry(Pane):
    """A diamond that darkens in the sun and clears again."""

    def __init__(self, thickness, tint):
        super().__init__(thickness, tint)
        self.dark = 0.0

    def light(self, cosine, hour):
        passed = super().light(cosine, hour) / (1 + self.dark)
        self.dark = 0.8 * self.dark + 0.1 * passed
        return passed

    def lead(self):
        return 2 * math.sqrt(2)


def make_window(seed):
    rng = np.random.default_rng(seed)
    window = np.empty((ROWS, COLUMNS), dtype=object)
    kinds = rng.integers(0, 3, window.shape)
    for place in np.ndindex(window.shape):
        window[place] = (Pane, Roundel, Quarry)[kinds[place]](rng.uniform(2, 5), rng.uniform(0.02, 0.2))
    return window


def make_panels(seed):
    """Which panes each iron frame holds: those nearest to a few places."""
    rng = np.random.default_rng(seed + 1)
    centres = rng.uniform(0, (ROWS, COLUMNS), (5, 2))
    panels = [[] for _ in centres]
    for place in np.ndindex(ROWS, COLUMNS):
        panels[int(((centres - place) ** 2).sum(axis=1).argmin())].append(place)
    return panels


def panel_light(window, panel, cosine, hour):
    return sum(window[y, x].light(cosine, hour) for y, x in panel)


def clean(window, rng):
    """The sexton wipes a few rows."""
    for y in rng.choice(ROWS, 3, replace=False):
        for pane in window[y]:
            pane.dust = 0.0


def day_of(window, panels, rng):
    curve = np.zeros((len(panels), 24))
    for step in range(24):
        hour = 8 + step / 3
        cosine = math.sin(math.pi * (hour - 6) / 12) * rng.uniform(0.6, 1.0)
        for n, panel in enumerate(panels):
            curve[n, step] = panel_light(window, panel, cosine, hour)
    return curve


def one_pass(number, _):
    rng = np.random.default_rng(number)
    window, panels = make_window(number), make_panels(number)
    curves = []
    for _ in range(3):
        curves.append(day_of(window, panels, rng))
        clean(window, rng)
    lead = sum(pane.lead() for pane in window.flat)
    bright = np.array(curves).mean(axis=2)
    return [bright.sum(axis=1).tolist(), int(bright[-1].argmax()), lead]


if __name__ == "__main__":
    run(one_pass)
