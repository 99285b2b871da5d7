# SPDX-License-Identifier: Apache-2.0
"""Listings 1 and 2: a classifier of irises, trained by back-propagation.

The update of the weights goes through two matrices element by element, so that
numpy parses an index, checks it and makes a scalar for each. --fixed updates a
row at a time. The rest, over a bunch of flowers or all of them, is vectorised in
both versions.

The paper's program became twice as fast by its fix, and so does this one: a
bunch of flowers costs each hidden unit 32 tanh, about as much as the four
elements of its weights one by one, and there are so many hidden units that what
is left of the calls, a row of 128 or a bunch of 32 rows at a time, is not mostly
the cost of calling.
"""
# guilty: step = -1.0 * rate * gradients[i, j]
# category: slice-underutilisation
# guilty: self.input_weights[i, j] += step
# category: slice-underutilisation
# mended: self.input_weights[i, 0:HIDDEN] +=
# innocent: hidden = np.tanh(flowers @ self.input_weights + self.hidden_bias)
# innocent: scores = np.exp(hidden @ self.output_weights + self.output_bias)

import numpy as np

import listing_runner

INPUTS, HIDDEN, OUTPUTS = 4, 128, 3
BUNCH, BUNCHES, EPOCHS = 32, 80, 3


def make_flowers(count, seed):
    """Three kinds, each a cloud around a middle of its own."""
    random = np.random.RandomState(seed)
    kinds = random.randint(0, OUTPUTS, count)
    middles = np.array([[5.0, 3.4, 1.5, 0.2], [5.9, 2.8, 4.3, 1.3], [6.6, 3.0, 5.6, 2.0]])
    flowers = middles[kinds] + 0.3 * random.standard_normal((count, INPUTS))
    return (flowers - flowers.mean(axis=0)) / flowers.std(axis=0), kinds


class Network:
    def __init__(self, seed=1):
        random = np.random.RandomState(seed)
        self.input_weights = 0.2 * random.standard_normal((INPUTS, HIDDEN))
        self.hidden_bias = np.zeros(HIDDEN)
        self.output_weights = 0.2 * random.standard_normal((HIDDEN, OUTPUTS))
        self.output_bias = np.zeros(OUTPUTS)

    def forward(self, flowers):
        hidden = np.tanh(flowers @ self.input_weights + self.hidden_bias)
        scores = np.exp(hidden @ self.output_weights + self.output_bias)
        return hidden, scores / scores.sum(axis=1, keepdims=True)

    def train(self, flowers, kinds, rate, update):
        """One step down the gradient of a bunch of flowers."""
        hidden, output = self.forward(flowers)
        output[np.arange(len(kinds)), kinds] -= 1
        hidden_error = (output @ self.output_weights.T) * (1 - hidden * hidden)
        self.output_weights -= rate * (hidden.T @ output)
        self.output_bias -= rate * output.sum(axis=0)
        self.hidden_bias -= rate * hidden_error.sum(axis=0)
        update(self, flowers.T @ hidden_error, rate)

    def update_elements(self, gradients, rate):
        for i in range(INPUTS):
            for j in range(HIDDEN):
                step = -1.0 * rate * gradients[i, j]
                self.input_weights[i, j] += step

    def update_rows(self, gradients, rate):
        for i in range(INPUTS):
            self.input_weights[i, 0:HIDDEN] += -1.0 * rate * gradients[i, 0:HIDDEN]

    def loss(self, flowers, kinds):
        """Mean cross entropy over all flowers at once."""
        _, output = self.forward(flowers)
        return -np.log(output[np.arange(len(kinds)), kinds]).mean()


FLOWERS, KINDS = make_flowers(BUNCH * BUNCHES, seed=2)


def learn(update):
    network = Network()
    for k in range(EPOCHS * BUNCHES):
        first = BUNCH * (k % BUNCHES)
        some = slice(first, first + BUNCH)
        network.train(FLOWERS[some], KINDS[some], 0.01, update)
    return network.loss(FLOWERS, KINDS)


if __name__ == "__main__":
    listing_runner.run(
        "listing_01_iris",
        __doc__,
        lambda: learn(Network.update_elements),
        lambda: learn(Network.update_rows),
        tolerance=1e-6,
    )
