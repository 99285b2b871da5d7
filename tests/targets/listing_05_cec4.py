# SPDX-License-Identifier: Apache-2.0
"""Listings 5 and 6: a test function of optimisers, summed up by scalar calls of numpy.

A swarm searches the minimum. Its function (Rosenbrock's) adds up one term at a
time through np.square of a single element. --fixed gives the whole vector to one
np.sum. How far the particles are from those of three archives is computed in bulk in both versions.
"""
# guilty: result += 100 * np.square(x[i] ** 2 - x[i + 1]) + np.square(x[i] - 1)
# category: api-misuse
# mended: return np.sum(100 * np.square(
# innocent: apart = swarm[:, None, :] - archive[None, :, :]
# innocent: return np.sqrt(np.einsum("ijk,ijk->ij", apart, apart)).min(axis=1)

import numpy as np

import listing_runner

PARTICLES, ARCHIVES, ARCHIVE, DIMENSIONS, ROUNDS = 24, 3, 400, 30, 4


def rosenbrock_terms(x):
    result = 0.0
    for i in range(len(x) - 1):
        result += 100 * np.square(x[i] ** 2 - x[i + 1]) + np.square(x[i] - 1)
    return result


def rosenbrock_sum(x):
    return np.sum(100 * np.square(x[:-1] ** 2 - x[1:]) + np.square(x[:-1] - 1))


def crowding(swarm, archive):
    """How far each particle is from the nearest one that was kept."""
    apart = swarm[:, None, :] - archive[None, :, :]
    return np.sqrt(np.einsum("ijk,ijk->ij", apart, apart)).min(axis=1)


def search(function, seed=5):
    random = np.random.RandomState(seed)
    archives = random.uniform(-2, 2, (ARCHIVES, ARCHIVE, DIMENSIONS))
    swarm = random.uniform(-2, 2, (PARTICLES, DIMENSIONS))
    velocity = np.zeros_like(swarm)
    best, best_cost = swarm.copy(), np.full(PARTICLES, np.inf)
    for _ in range(ROUNDS):
        costs = np.array([function(particle) for particle in swarm])
        for archive in archives:
            costs = costs * (1 + 1 / (1 + crowding(swarm, archive)))
        better = costs < best_cost
        best[better], best_cost[better] = swarm[better], costs[better]
        leader = best[best_cost.argmin()]
        pull, push = random.rand(2, PARTICLES, 1)
        velocity = 0.7 * velocity + pull * (best - swarm) + push * (leader - swarm)
        swarm = np.clip(swarm + velocity, -2, 2)
    return best_cost


if __name__ == "__main__":
    listing_runner.run(
        "listing_05_cec4", __doc__, lambda: search(rosenbrock_terms), lambda: search(rosenbrock_sum)
    )
