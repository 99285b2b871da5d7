# SPDX-License-Identifier: Apache-2.0
"""Listings 10 and 11: another test function of optimisers (Katsuura's), by scalar calls of numpy.

The inner loop computes the same power and product twice for the distance to the
nearest integer, all in scalar numpy calls; the outer one a power of the
dimension that never changes. --fixed computes both over whole arrays. The rest
of the optimiser, which recombines its population, is vectorised in both versions.
"""
# guilty: term += i * np.abs(np.power(
# category: api-misuse
# guilty: product *= np.power(term, 10 / np.power(dimensions, 1.2))
# category: loop-invariant or api-misuse
# mended: terms = 1 + np.arange(dimensions) * (
# mended: return np.prod(np.power(terms, 10 / np.power(dimensions, 1.2)))
# innocent: covariance = deviations.T @ deviations / len(deviations)
# innocent: children = np.sort(middle + random.standard_normal(population.shape) @ factor.T, axis=1)

import numpy as np

import listing_runner

POPULATION, DIMENSIONS, ROUNDS, JUDGED = 4000, 24, 3, 1
POWERS = np.power(2.0, np.arange(32))


def katsuura_terms(x):
    dimensions = len(x)
    product = 1.0
    for i in range(dimensions):
        term = 1.0
        for j in range(32):
            term += i * np.abs(np.power(2, j + 1) * x[i] - round(np.power(2, j + 1) * x[i])) / np.power(2, j)
        product *= np.power(term, 10 / np.power(dimensions, 1.2))
    return product


def katsuura_arrays(x):
    dimensions = len(x)
    scaled = 2 * POWERS * x[:, None]
    terms = 1 + np.arange(dimensions) * (np.abs(scaled - np.rint(scaled)) / POWERS).sum(axis=1)
    return np.prod(np.power(terms, 10 / np.power(dimensions, 1.2)))


def evolve(function, seed=10):
    random = np.random.RandomState(seed)
    population = random.uniform(-5, 5, (POPULATION, DIMENSIONS))
    costs = []
    for _ in range(ROUNDS):
        middle = population.mean(axis=0)
        deviations = population - middle
        covariance = deviations.T @ deviations / len(deviations)
        factor = np.linalg.cholesky(covariance)
        children = np.sort(middle + random.standard_normal(population.shape) @ factor.T, axis=1)
        costs += [function(child) for child in children[:JUDGED]]
        population = np.where(random.rand(POPULATION, 1) < 0.5, children, population)
    return costs


if __name__ == "__main__":
    listing_runner.run(
        "listing_10_cec10", __doc__, lambda: evolve(katsuura_terms), lambda: evolve(katsuura_arrays)
    )
