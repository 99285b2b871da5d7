# SPDX-License-Identifier: Apache-2.0
"""Three functions ask for the profile of the same hills, each for itself; the hills are others in each round.

With --fixed it is made once a round and handed on.
"""
import round_runner


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


def ask(rng, fixed, number):
    heights = [rng.random() * 40 for _ in range(400)]
    made = profile(heights) if fixed else None
    found = climb(heights, made), summit(heights, made), flat(heights, made)
    # Seldom: it is the same work.
    if number % 100 == 0 and found != (climb(heights, None), summit(heights, None), flat(heights, None)):
        return "other figures"
    # What else there is to do.
    return None if sorted(heights)[-1] < 40 else "a hill that is too high"


round_runner.run("asked_again", __doc__, ask)
