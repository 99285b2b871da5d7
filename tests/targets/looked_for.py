# SPDX-License-Identifier: Apache-2.0
"""Four ways of looking through everything again: entries by name, a list's front, a limit, a number's place.

The data are others in each round. With --fixed there is a dict, a deque, a limit that is kept, and another dict.
"""
import collections

import round_runner


def by_name(names, entries, fixed):
    if fixed:
        groups = {}
        for entry in entries:
            groups.setdefault(entry[0], []).append(entry)
        return [len(groups.get(name, ())) for name in names]
    counts = []
    for name in names:
        own = [entry for entry in entries if entry[0] == name]
        counts.append(len(own))
    return counts


def in_turn(entries, fixed):
    line = collections.deque(entries * 5) if fixed else entries * 5
    total = 0
    for _ in range(len(entries)):
        total += line.popleft()[1] if fixed else line.pop(0)[1]
    return total


def above(entries, fixed):
    limit = sum(entry[1] for entry in entries) / len(entries)
    if fixed:
        return [entry for entry in entries[:60] if entry[1] > limit]
    return [entry for entry in entries[:60] if entry[1] * len(entries) > sum(entry[1] for entry in entries)]


def places(entries, fixed):
    numbers = [entry[1] for entry in entries]
    if fixed:
        place = {number: index for index, number in reversed(list(enumerate(numbers)))}
        return [place[entry[1]] for entry in entries[::2]]
    found = []
    for entry in entries[::2]:
        found.append(numbers.index(entry[1]))
    return found


def look(rng, fixed, number):
    names = ["n%d" % rng.randrange(10**6) for _ in range(60)]
    entries = [(rng.choice(names), rng.randrange(10**6)) for _ in range(1500)]
    for work, *given in ((by_name, names, entries), (in_turn, entries), (above, entries), (places, entries)):
        # Once: it is the same work.
        if not number and work(*given, False) != work(*given, True):
            return "other results of %s" % work.__name__
        work(*given, fixed)
    return None


round_runner.run("looked_for", __doc__, look)
