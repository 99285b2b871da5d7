# SPDX-License-Identifier: Apache-2.0
"""Finite elements of mixed order along a tapered beam."""

import numpy as np
from numpy.polynomial import legendre

from common import run

YOUNG = 210e9


def make_mesh(seed, count):
    rng = np.random.default_rng(seed)
    lengths = rng.uniform(0.4, 1.6, count)
    nodes = np.concatenate([[0.0], np.cumsum(lengths)])
    orders = rng.integers(2, 6, count)
    taper = rng.uniform(0.5, 1.5)
    return nodes, orders, taper


def section(x, taper):
    return 0.02 * (1 + 0.1 * np.sin(x)) * np.exp(-taper * x / 200)


def bending(points, length):
    s = (points + 1) / 2
    return np.array([12 * s - 6, length * (6 * s - 4), 6 - 12 * s, length * (6 * s - 2)]) / length**2


def element(left, right, order, taper):
    points, weights = legendre.leggauss(order)
    length = right - left
    x = left + (points + 1) * length / 2
    curve = bending(points, length)
    stiff = YOUNG * section(x, taper) * weights * length / 2
    return (curve * stiff) @ curve.T


def element_with(rules):
    def stiffness(left, right, order, taper):
        if order not in rules:
            rules[order] = legendre.leggauss(order)
        points, weights = rules[order]
        length = right - left
        x = left + (points + 1) * length / 2
        curve = bending(points, length)
        stiff = YOUNG * section(x, taper) * weights * length / 2
        return (curve * stiff) @ curve.T

    return stiffness


def assemble(nodes, orders, taper, stiffness):
    size = 2 * len(nodes)
    matrix = np.zeros((size, size))
    for n, order in enumerate(orders):
        block = stiffness(nodes[n], nodes[n + 1], int(order), taper)
        matrix[2 * n : 2 * n + 4, 2 * n : 2 * n + 4] += block
    return matrix


def deflection(matrix, load):
    free = matrix[2:, 2:]
    force = np.zeros(len(free))
    force[0::2] = load
    return np.linalg.solve(free, force)


def one_pass(number, make_element):
    nodes, orders, taper = make_mesh(number, 400)
    matrix = assemble(nodes, orders, taper, make_element())
    bent = deflection(matrix, -1500.0)
    return float(bent[-2]), float(np.abs(bent).max()), float(np.trace(matrix))


if __name__ == "__main__":
    run(one_pass, lambda: element, lambda: element_with({}))
