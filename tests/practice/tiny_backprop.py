# SPDX-License-Identifier: Apache-2.0
"""A one-hidden-layer net for flower measurements, with momentum, by hand."""

import numpy as np

from common import run


def make_flowers(seed, count=240):
    rng = np.random.default_rng(seed)
    kind = rng.integers(0, 3, count)
    centres = rng.normal(0, 1.5, (3, 4))
    return centres[kind] + rng.normal(0, 0.7, (count, 4)), kind


def softmax(scores):
    raised = np.exp(scores - scores.max())
    return raised / raised.sum()


class Network:
    def __init__(self, seed, inputs, hidden, outputs):
        rng = np.random.default_rng(seed)
        self.w1 = rng.normal(0, 0.3, (inputs, hidden))
        self.w2 = rng.normal(0, 0.3, (hidden, outputs))
        self.b1 = np.zeros(hidden)
        self.b2 = np.zeros(outputs)
        self.speed = np.zeros((inputs, hidden))

    def forward(self, x):
        hidden = np.tanh(x @ self.w1 + self.b1)
        return hidden, softmax(hidden @ self.w2 + self.b2)

    def gradients(self, x, kind):
        hidden, chance = self.forward(x)
        output_error = chance.copy()
        output_error[kind] -= 1.0
        hidden_error = (self.w2 @ output_error) * (1.0 - hidden**2)
        return hidden, output_error, hidden_error, -np.log(chance[kind])

    def learn(self, x, kind, rate, momentum, step_inputs):
        hidden, output_error, hidden_error, loss = self.gradients(x, kind)
        self.w2 -= rate * np.outer(hidden, output_error)
        self.b2 -= rate * output_error
        self.b1 -= rate * hidden_error
        step_inputs(self, x, hidden_error, rate, momentum)
        return loss


def step_inputs(net, x, hidden_error, rate, momentum):
    for i in range(net.w1.shape[0]):
        for j in range(net.w1.shape[1]):
            delta = momentum * net.speed[i, j] - rate * x[i] * hidden_error[j]
            net.w1[i, j] += delta
            net.speed[i, j] = delta


def step_inputs_fixed(net, x, hidden_error, rate, momentum):
    net.speed = momentum * net.speed - rate * np.outer(x, hidden_error)
    net.w1 += net.speed


def accuracy(net, flowers, kinds):
    return sum(int(net.forward(x)[1].argmax() == kind) for x, kind in zip(flowers, kinds))


def one_pass(number, step):
    flowers, kinds = make_flowers(number)
    net = Network(number, 4, 12, 3)
    loss = 0.0
    for epoch in range(8):
        for n in np.random.default_rng(epoch + number).permutation(len(flowers)):
            loss += net.learn(flowers[n], kinds[n], 0.05, 0.6, step)
    return accuracy(net, flowers, kinds), float(loss)


if __name__ == "__main__":
    run(one_pass, step_inputs, step_inputs_fixed)
