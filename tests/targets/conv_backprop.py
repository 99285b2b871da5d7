# SPDX-License-Identifier: Apache-2.0
"""Back-propagation of a small convolution layer.

The inner loop over the filters indexes one element and one filter at a time
through numpy, so that every call reads the same array headers again: the
inefficiency that pieprofd is to find. --fixed does the same with slices.
"""
import argparse
import time

import numpy as np

import support


class Convolution:
    def __init__(self, filter_count, image):
        self.filter_count = filter_count
        self.filters = np.zeros((filter_count, 3, 3))
        self.image = image

    def regions(self):
        """Every 3x3 region of the image with its position."""
        height, width = self.image.shape
        for i in range(height - 2):
            for j in range(width - 2):
                yield self.image[i : i + 3, j : j + 3], i, j

    def backprop(self, d):
        g = np.zeros(self.filters.shape)
        for r, i, j in self.regions():
            for f in range(self.filter_count):
                g[f] += d[i, j, f] * r
        return g

    def backprop_fixed(self, d):
        n = self.filter_count
        g = np.zeros(self.filters.shape)
        for r, i, j in self.regions():
            repeated = np.repeat(r[np.newaxis, :, :], n, axis=0)
            t = d[i, j, 0:n]
            g[0:n] += t[:, None, None] * repeated
        return g


def make(seed=8, size=28, filter_count=8):
    """A layer and the gradient of the loss by its output; the same for the same seed."""
    random = np.random.RandomState(seed)
    layer = Convolution(filter_count, random.rand(size, size) - 0.5)
    return layer, random.rand(size - 2, size - 2, filter_count) - 0.5


def train(layer, d, fixed):
    if fixed:
        return layer.backprop_fixed(d)
    return layer.backprop(d)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--fixed", action="store_true", help="the version with slices")
    parser.add_argument("--seconds", type=float, default=10, help="how long to work")
    parser.add_argument("--passes", type=int, help="how often to work, instead of --seconds")
    arguments = parser.parse_args()

    layer, d = make()
    expected = layer.backprop_fixed(d)
    problems = []

    support.ready()
    passes = 0
    end = time.monotonic() + arguments.seconds
    while passes < arguments.passes if arguments.passes else time.monotonic() < end:
        gradient = train(layer, d, arguments.fixed)
        passes += 1
        if not np.allclose(gradient, expected, rtol=1e-12):
            problems.append("pass %d computed another gradient" % passes)
            break
    support.finish(
        "conv_backprop", problems, "passes=%d checksum=%.12f" % (passes, float(np.abs(expected).sum()))
    )


if __name__ == "__main__":
    main()
