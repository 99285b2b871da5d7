# SPDX-License-Identifier: Apache-2.0
"""Listing 3: a transformation of matplotlib's is turned by the same angle for every picture.

rotate() computes sine, cosine and matrix anew each time, though training turns
the pictures of a batch by one angle. --fixed keeps the matrix as long as the
angle is the same. Normalising the pictures and moving the points of the
outlines drawn on them is bulk work in both versions.
"""
# guilty: a = np.cos(theta)
# category: repeated-call
# guilty: b = np.sin(theta)
# category: repeated-call
# guilty: rotation = np.array([[a, -b, 0.0], [b, a, 0.0], [0.0, 0.0, 1.0]], float)
# category: repeated-call
# mended: if theta != KeptRotation.theta:
# mended: a, b = np.cos(theta), np.sin(theta)
# mended: KeptRotation.rotation = np.array(
# innocent: spread = np.sqrt(((pictures - middle) ** 2).mean(axis=(1, 2), keepdims=True))
# innocent: return (pictures - middle) / spread

import numpy as np
from matplotlib.transforms import Affine2D

import listing_runner

BATCH, SIZE, MARKS, POINTS = 96, 56, 4, 2000


class Rotation(Affine2D):
    def rotate(self, theta):
        a = np.cos(theta)
        b = np.sin(theta)
        rotation = np.array([[a, -b, 0.0], [b, a, 0.0], [0.0, 0.0, 1.0]], float)
        self._mtx = np.dot(rotation, self._mtx)
        self.invalidate()
        return self


class KeptRotation(Affine2D):
    theta = None
    rotation = None

    def rotate(self, theta):
        if theta != KeptRotation.theta:
            a, b = np.cos(theta), np.sin(theta)
            KeptRotation.rotation = np.array([[a, -b, 0.0], [b, a, 0.0], [0.0, 0.0, 1.0]])
            KeptRotation.theta = theta
        self._mtx = np.dot(KeptRotation.rotation, self._mtx)
        self.invalidate()
        return self


def make_batches(count=3, seed=3):
    random = np.random.RandomState(seed)
    return [
        (random.rand(BATCH, SIZE, SIZE), random.rand(POINTS, 2) * SIZE, random.uniform(-0.5, 0.5))
        for _ in range(count)
    ]


def normalise(pictures):
    middle = pictures.mean(axis=(1, 2), keepdims=True)
    spread = np.sqrt(((pictures - middle) ** 2).mean(axis=(1, 2), keepdims=True))
    return (pictures - middle) / spread


def turn(marks, theta):
    """Every picture has marks with transformations of their own; all turn with the picture."""
    for transformation in marks:
        transformation.rotate(theta)


BATCHES = make_batches()


def augment(kind):
    sums = []
    for pictures, outline, theta in BATCHES:
        sums.append(np.abs(normalise(pictures)).sum())
        marks = [kind() for _ in range(MARKS)]
        for _ in range(BATCH):
            turn(marks, theta)
        sums.append(marks[-1].transform(outline).sum())
    return sums


if __name__ == "__main__":
    listing_runner.run("listing_03_rotate", __doc__, lambda: augment(Rotation), lambda: augment(KeptRotation))
