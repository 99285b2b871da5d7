# SPDX-License-Identifier: Apache-2.0
"""Listing 7: dictionary learning repeats products whose factors never change.

A = D (X - D' A), over and over, with D and X fed in anew each time: D X and D D'
could be computed once. (The paper's program ran on TensorFlow; this one on torch.)
--fixed computes them before the loop. Shrinking the codes is needed each time;
so is the new dictionary (Procrustes' problem) after each loop.
"""
# guilty: codes = dictionary @ (signals - dictionary.T @ codes)
# category: loop-invariant
# guilty: dictionary, signals = torch.tensor(atoms), torch.tensor(data)  # fed
# category: loop-invariant or repeated-call
# mended: codes = product - square @ codes
# innocent: codes = torch.nn.functional.softshrink(codes, 1e-3)
# innocent: left, _, right = torch.linalg.svd(torch.tensor(DATA) @ codes.T)

import numpy as np
import torch

import listing_runner

SIZE, ROUNDS, UPDATES = 64, 16, 4


def make_data(seed=7):
    random = np.random.RandomState(seed)
    atoms = random.standard_normal((SIZE, SIZE))
    atoms *= 0.9 / np.linalg.norm(atoms, 2)  # so that the iteration converges
    return atoms, random.standard_normal((SIZE, SIZE))


ATOMS, DATA = make_data()


def encode(atoms, data):
    codes = torch.zeros(SIZE, SIZE, dtype=torch.float64)
    for _ in range(ROUNDS):
        dictionary, signals = torch.tensor(atoms), torch.tensor(data)  # fed
        codes = dictionary @ (signals - dictionary.T @ codes)
        codes = torch.nn.functional.softshrink(codes, 1e-3)
    return codes


def encode_fixed(atoms, data):
    codes = torch.zeros(SIZE, SIZE, dtype=torch.float64)
    dictionary, signals = torch.tensor(atoms), torch.tensor(data)
    product, square = dictionary @ signals, dictionary @ dictionary.T
    for _ in range(ROUNDS):
        codes = product - square @ codes
        codes = torch.nn.functional.softshrink(codes, 1e-3)
    return codes


def learn(encode_with):
    atoms = ATOMS
    for _ in range(UPDATES):
        codes = encode_with(atoms, DATA)
        left, _, right = torch.linalg.svd(torch.tensor(DATA) @ codes.T)
        atoms = 0.8 * (left @ right).numpy()
    return codes.numpy()


if __name__ == "__main__":
    torch.set_num_threads(1)
    listing_runner.run(
        "listing_07_dictionary", __doc__, lambda: learn(encode), lambda: learn(encode_fixed), tolerance=1e-6
    )
