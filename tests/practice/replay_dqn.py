# SPDX-License-Identifier: Apache-2.0
"""Q-learning with a replay memory: a cart that must stop at the flag."""

import random
import warnings
from collections import deque, namedtuple

import numpy as np
import torch
from torch import nn

from common import run

torch.set_num_threads(1)
warnings.filterwarnings("ignore", message="Creating a tensor from a list")

Transition = namedtuple("Transition", "state action reward after done")
SENSORS = 20
BEAMS = np.linspace(-2, 2, SENSORS - 1)


class Track:
    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)
        self.reset()

    def reset(self):
        self.place, self.pace, self.age = float(self.rng.uniform(-1, 1)), 0.0, 0
        return self.view()

    def view(self):
        beams = np.exp(-((BEAMS - self.place) ** 2) * 4)
        return np.append(beams, self.pace).astype(np.float32)

    def step(self, action):
        self.pace = 0.9 * self.pace + 0.1 * (action - 1) + float(self.rng.normal(0, 0.01))
        self.place += self.pace
        self.age += 1
        done = abs(self.place) > 2 or self.age > 60
        return self.view(), -abs(self.place), done


def make_net(hidden=64):
    inner = nn.Linear(hidden, hidden)
    return nn.Sequential(nn.Linear(SENSORS, hidden), nn.ReLU(), inner, nn.ReLU(), nn.Linear(hidden, 3))


def to_tensor(arrays):
    return torch.tensor(arrays)


def to_tensor_fixed(arrays):
    return torch.from_numpy(np.stack(arrays))


def learn(net, optimizer, batch, convert, discount=0.95):
    states = convert([item.state for item in batch])
    after = convert([item.after for item in batch])
    actions = torch.tensor([item.action for item in batch])
    rewards = torch.tensor([item.reward for item in batch], dtype=torch.float32)
    alive = torch.tensor([not item.done for item in batch])
    with torch.no_grad():
        goal = rewards + discount * alive * net(after).max(1).values
    value = net(states).gather(1, actions[:, None])[:, 0]
    loss = nn.functional.smooth_l1_loss(value, goal)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()


def one_pass(number, convert):
    torch.manual_seed(number)
    rng = random.Random(number)
    net = make_net()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
    memory = deque(maxlen=2000)
    track = Track(number)
    state = track.reset()
    losses = []
    for turn in range(180):
        with torch.no_grad():
            choice = int(net(torch.from_numpy(state)).argmax())
        action = rng.randrange(3) if rng.random() < 0.3 else choice
        after, reward, done = track.step(action)
        memory.append(Transition(state, action, reward, after, done))
        state = track.reset() if done else after
        if len(memory) >= 64:
            losses.append(learn(net, optimizer, rng.sample(memory, 64), convert))
    return losses


if __name__ == "__main__":
    run(one_pass, to_tensor, to_tensor_fixed)
