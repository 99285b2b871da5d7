# SPDX-License-Identifier: Apache-2.0
"""Library functions called for what others do faster, and copies of what grows.

The data are others in each round. With --fixed the faster ones are called.
"""
import bisect
import inspect
import itertools
import sys

import numpy

import round_runner


def draws(rng, weights, fixed):
    if fixed:
        return len(rng.choices(range(len(weights)), weights, k=100))
    drawn = []
    for _ in range(100):
        drawn.append(rng.choices(range(len(weights)), weights)[0])
    return len(drawn)


def caller(text, fixed):
    return text + (sys._getframe(1).f_code.co_name if fixed else inspect.stack()[1].function)


def who_calls(prices, fixed):
    return [caller("%f of " % price, fixed) for price in prices[:4]]


def areas(edges, fixed):
    if fixed:
        return float(numpy.abs(numpy.cross(edges[:-1], edges[1:])).sum())
    area = 0.0
    for i in range(len(edges) - 1):
        area += numpy.abs(numpy.cross(edges[i], edges[i + 1])).sum()
    return float(area)


def places(limits, prices, fixed):
    if fixed:
        known = limits.tolist()
        return [bisect.bisect_left(known, price) for price in prices]
    found = []
    for price in prices:
        found.append(int(numpy.searchsorted(limits, price)))
    return found


def cheapest(offers, fixed):
    return [float(offer.min() if fixed else numpy.sort(offer)[0]) for offer in offers]


def all_of(lists, fixed):
    if fixed:
        return len(list(itertools.chain.from_iterable(lists)))
    return len(sum(lists, []))


def last_prices(prices, fixed):
    last, seen = {}, []
    for number, price in enumerate(prices):
        if fixed:
            last[number] = price
        else:
            last = {**last, number: price}
        seen.append(len(last))
    return seen


def slow_library(rng, fixed, number):
    array = numpy.random.default_rng(rng.randrange(10**6))
    prices = [rng.random() for _ in range(500)]
    for work, *given in ((draws, rng, [rng.random() for _ in range(400)]), (who_calls, prices),
                         (areas, array.random((200, 3))), (places, array.random(50), prices + prices),
                         (cheapest, array.random((20, 2000))),
                         (all_of, [[rng.random()] * 10 for _ in range(400)]), (last_prices, prices)):
        # Once: it is the same work.
        if not number and repr(work(*given, False))[:6] != repr(work(*given, True))[:6]:
            return "other results of %s" % work.__name__
        work(*given, fixed)
    return None


round_runner.run("slow_library", __doc__, slow_library)
