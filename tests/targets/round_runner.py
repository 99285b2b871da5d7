# SPDX-License-Identifier: Apache-2.0
"""What targets share that work in rounds, each with data that no other round has, and have a mended form."""
import argparse
import random
import time

import support


def run(name, description, work):
    """work(rng, fixed, number) does a round, the first of which is number 0, and returns what was wrong, or None."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--fixed", action="store_true", help="the mended form")
    parser.add_argument("--seconds", type=float, default=10, help="how long to work")
    arguments = parser.parse_args()
    rng = random.Random(1)
    problems = []

    support.ready()
    number = 0
    end = time.monotonic() + arguments.seconds
    while time.monotonic() < end and not problems:
        wrong = work(rng, arguments.fixed, number)
        if wrong:
            problems.append("round %d has %s" % (number, wrong))
        number += 1
    support.finish(name, problems, "%d rounds" % number)
