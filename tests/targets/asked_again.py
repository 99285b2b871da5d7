# SPDX-License-Identifier: Apache-2.0
"""Three functions ask for the profile of the same hills, each for itself; the hills are others in each round.

With --fixed it is made once a round and handed on.
"""
import argparse
import random
import time

import support


def profile(heights):
    steps = []
    for a, b in zip(heights, sorted(heights)):
        steps.append(divmod(b * b - a * a, 7)[1] + divmod(a * a + b * b, 11)[0])
    return steps


def climb(heights, made):
    smooth = made or profile(heights)
    return sum(max(0, b - a) for a, b in zip(smooth, smooth[1:]))


def summit(heights, made):
    smooth = made or profile(heights)
    return smooth.index(max(smooth))


def flat(heights, made):
    smooth = made or profile(heights)
    return sum(abs(b - a) < 0.5 for a, b in zip(smooth, smooth[1:]))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--fixed", action="store_true")
    arguments = parser.parse_args()
    rng = random.Random(1)
    problems = []

    support.ready()
    rounds = highest = 0
    end = time.monotonic() + arguments.seconds
    while time.monotonic() < end:
        heights = [rng.random() * 40 for _ in range(400)]
        made = profile(heights) if arguments.fixed else None
        found = climb(heights, made), summit(heights, made), flat(heights, made)
        # Seldom: it is the same work.
        if rounds % 100 == 0 and found != (climb(heights, None), summit(heights, None), flat(heights, None)):
            problems.append("round %d has other figures" % rounds)
            break
        highest = max(highest, sorted(heights)[-1])
        rounds += 1
    support.finish("asked_again", problems, "%d rounds" % rounds)


main()
