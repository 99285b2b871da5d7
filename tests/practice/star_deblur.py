# SPDX-License-Identifier: Apache-2.0
"""An observatory's night: frames blurred by the air are sharpened step by step, stars found in them and followed from frame to frame."""

import numpy as np
from scipy import fft, ndimage
from scipy.spatial import cKDTree

from common import run

SIDE, FRAMES = 72, 4


class Optics:
    """How a point is smeared: its transform is made once for the night."""

    def __init__(self, seeing, tail):
        down, across = np.mgrid[:SIDE, :SIDE] - SIDE // 2
        away = down**2 + (1.1 * across) ** 2
        spot = (1 + away / seeing**2) ** -tail
        spot = np.fft.ifftshift(spot / spot.sum())
        self.there = fft.rfft2(spot)
        self.back = self.there.conj()

    def smear(self, image):
        return fft.irfft2(fft.rfft2(image) * self.there, s=image.shape)

    def gather(self, image):
        return fft.irfft2(fft.rfft2(image) * self.back, s=image.shape)


class Sharpener:
    def __init__(self, optics, most=14, enough=0.01):
        self.optics = optics
        self.most, self.enough = most, enough

    def sharpen(self, frame):
        """Each step multiplies the estimate by what it lacks; it ends when little changes."""
        estimate = np.full_like(frame, frame.mean())
        for taken in range(1, self.most + 1):
            smeared = self.optics.smear(estimate)
            np.maximum(smeared, 1e-3, out=smeared)
            change = self.optics.gather(np.divide(frame, smeared, out=smeared))
            np.clip(change, 0.0, None, out=change)
            estimate *= change
            if np.abs(change - 1).mean() < self.enough:
                break
        return estimate, taken


class Detector:
    """Stars are peaks above the sky's noise; their light is summed up around them."""

    def __init__(self, sigmas=6.0):
        self.sigmas = sigmas

    def sky(self, image):
        level = np.median(image)
        return level, 1.4826 * np.median(np.abs(image - level)) + 1e-6

    def stars(self, image):
        level, noise = self.sky(image)
        above = image - level
        peaks = (ndimage.maximum_filter(above, 5) == above) & (above > self.sigmas * noise)
        labels, count = ndimage.label(ndimage.binary_dilation(peaks, iterations=2))
        numbers = np.arange(1, count + 1)
        places = np.array(ndimage.center_of_mass(np.maximum(above, 0), labels, numbers)).reshape(-1, 2)
        return places, np.asarray(ndimage.sum_labels(above, labels, numbers))


class Tracks:
    """A star of a frame goes on with the nearest one of the frame before."""

    def __init__(self, reach=2.5):
        self.reach = reach
        self.before = None
        self.moved = []
        self.lost = 0

    def follow(self, places):
        if self.before is not None and len(self.before) and len(places):
            away, which = cKDTree(self.before).query(places, distance_upper_bound=self.reach)
            met = np.isfinite(away)
            self.moved.append((places[met] - self.before[which[met]]).mean(axis=0) if met.any() else np.zeros(2))
            self.lost += len(self.before) - len(np.unique(which[met]))
        self.before = places


class Camera:
    """The sky as it is, turning slowly; each exposure has its own noise and a stray satellite now and then."""

    def __init__(self, rng, optics, stars=16):
        self.rng, self.optics = rng, optics
        self.places = rng.uniform(6, SIDE - 10, (stars, 2))
        self.light = 300 * rng.pareto(1.5, stars) + 400
        self.drift = rng.uniform(-0.8, 0.8, 2)

    def expose(self):
        self.places += self.drift
        image = np.full((SIDE, SIDE), 12.0)
        rows, columns = np.clip(np.rint(self.places), 0, SIDE - 1).astype(int).T
        np.add.at(image, (rows, columns), self.light)
        if self.rng.random() < 0.3:
            image[int(self.rng.integers(SIDE))] += 8.0
        return self.rng.poisson(np.maximum(self.optics.smear(image), 0)).astype(float)


def one_pass(number, step):
    rng = np.random.default_rng(number)
    optics = Optics(rng.uniform(1.2, 2.2), rng.uniform(2.2, 3.0))
    camera, sharpener, detector, tracks = Camera(rng, optics), Sharpener(optics), Detector(), Tracks()
    counts, steps, light = [], [], 0.0
    for _ in range(FRAMES):
        image, taken = sharpener.sharpen(camera.expose())
        places, sums = detector.stars(image)
        tracks.follow(places)
        counts.append(len(places))
        steps.append(taken)
        light += float(sums.sum())
    return counts, steps, light, np.sum(tracks.moved, axis=0).tolist(), tracks.lost


if __name__ == "__main__":
    run(one_pass)
