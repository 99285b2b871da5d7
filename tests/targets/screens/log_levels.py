# SPDX-License-Identifier: Apache-2.0
"""How many lines of each level a log has."""
import collections
import random
import re

from rounds import rounds


def log(number):
    rng = random.Random(number)
    levels = rng.choices(["DEBUG", "INFO", "WARNING", "ERROR"], [20, 70, 8, 2], k=20000)
    return ["2026-03-01 12:30:%02d %s request %d" % (n % 60, level, n) for n, level in enumerate(levels)]


def level(line):
    pattern = re.compile(r"^\d{4}-\d\d-\d\d \S+ ([A-Z]+)")
    return pattern.match(line).group(1)


if __name__ == "__main__":
    for number in rounds():
        counts = collections.Counter(level(line) for line in log(number))
