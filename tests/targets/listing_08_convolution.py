# SPDX-License-Identifier: Apache-2.0
"""Listings 8 and 9: a network of one convolution and one dense layer, trained on pictures.

Back-propagation through the convolution indexes one element and one filter at a
time. --fixed takes all filters of a region at once. The forward pass and the
dense layer are vectorised in both versions.
"""
# guilty: gradients[f] += d_output[i, j, f] * region
# category: slice-underutilisation
# mended: gradients[0:FILTERS] += factors[:, None, None] * repeated
# mended: repeated = np.repeat(region[np.newaxis, :, :], FILTERS, axis=0)
# mended: factors = d_output[i, j, 0:FILTERS]
# innocent: return np.einsum("nijab,fab->nijf", windows, self.filters, optimize=False)
# innocent: logits = features @ self.weights

import numpy as np

import listing_runner

FILTERS, SIZE, BATCH = 8, 20, 72
OUT = SIZE - 2


class Convolution:
    def __init__(self, random):
        self.filters = random.standard_normal((FILTERS, 3, 3)) / 9

    def regions(self, picture):
        for i in range(OUT):
            for j in range(OUT):
                yield picture[i : i + 3, j : j + 3], i, j

    def forward(self, pictures):
        windows = np.lib.stride_tricks.sliding_window_view(pictures, (3, 3), axis=(1, 2))
        return np.einsum("nijab,fab->nijf", windows, self.filters, optimize=False)

    def backprop(self, picture, d_output):
        gradients = np.zeros(self.filters.shape)
        for region, i, j in self.regions(picture):
            for f in range(FILTERS):
                gradients[f] += d_output[i, j, f] * region
        return gradients

    def backprop_fixed(self, picture, d_output):
        gradients = np.zeros(self.filters.shape)
        for region, i, j in self.regions(picture):
            repeated = np.repeat(region[np.newaxis, :, :], FILTERS, axis=0)
            factors = d_output[i, j, 0:FILTERS]
            gradients[0:FILTERS] += factors[:, None, None] * repeated
        return gradients


class Dense:
    def __init__(self, random, inputs, outputs):
        self.weights = random.standard_normal((inputs, outputs)) / inputs

    def losses(self, features, labels):
        logits = features @ self.weights
        logits -= logits.max(axis=1, keepdims=True)
        chances = np.exp(logits)
        chances /= chances.sum(axis=1, keepdims=True)
        chances[np.arange(len(labels)), labels] -= 1
        return chances


def make_data(seed=8):
    random = np.random.RandomState(seed)
    return random.rand(BATCH, SIZE, SIZE) - 0.5, random.randint(0, 10, BATCH)


PICTURES, LABELS = make_data()


def train(backprop, rounds=2, rate=0.01):
    random = np.random.RandomState(9)
    convolution, dense = Convolution(random), Dense(random, OUT * OUT * FILTERS, 10)
    for k in range(rounds):
        features = np.maximum(convolution.forward(PICTURES), 0).reshape(BATCH, -1)
        errors = dense.losses(features, LABELS)
        d_output = (errors @ dense.weights.T).reshape(BATCH, OUT, OUT, FILTERS)
        dense.weights -= rate * features.T @ errors
        convolution.filters -= rate * backprop(convolution, PICTURES[k], d_output[k])
    return convolution.filters


if __name__ == "__main__":
    listing_runner.run(
        "listing_08_convolution",
        __doc__,
        lambda: train(Convolution.backprop),
        lambda: train(Convolution.backprop_fixed),
    )
