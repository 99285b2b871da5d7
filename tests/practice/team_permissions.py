# SPDX-License-Identifier: Apache-2.0
"""Who may do what in a shared workspace: folders inherit grants, groups nest, and what was decided is kept until somebody changes a grant."""

import random
from collections import Counter
from functools import lru_cache

from common import run

RIGHTS = {"see": 1, "comment": 2, "edit": 4, "share": 8}


@lru_cache(maxsize=None)
def rights(mask):
    return frozenset(name for name, bit in RIGHTS.items() if mask & bit)


class Workspace:
    def __init__(self, rnd):
        self.rnd = rnd
        self.parents = {0: None}
        for folder in range(1, 120):
            self.parents[folder] = rnd.randrange(max(0, folder - 12), folder)
        self.groups = ["g%02d" % at for at in range(16)]
        self.above = {name: rnd.sample(self.groups[:at], min(at, 2)) for at, name in enumerate(self.groups)}
        self.names = {"u%03d" % at: self.all_names("u%03d" % at, rnd.sample(self.groups, 3)) for at in range(60)}
        self.grants = {}
        self.decided = {}
        self.asked = self.walked = 0
        for _ in range(150):
            self.grant()

    def grant(self):
        """A new grant empties what was decided."""
        rnd = self.rnd
        who = rnd.choice(self.groups) if rnd.random() < 0.5 else "u%03d" % rnd.randrange(60)
        self.grants[rnd.randrange(120), who] = rnd.randrange(1, 16)
        self.decided.clear()

    def all_names(self, user, todo):
        """The user and all groups that the user is in, directly or through others."""
        seen = {user}
        while todo:
            name = todo.pop()
            if name not in seen:
                seen.add(name)
                todo.extend(self.above[name])
        return seen

    def mask(self, user, folder):
        key = user, folder
        mask = self.decided.get(key)
        if mask is None:
            self.walked += 1
            parent = self.parents[folder]
            mask = 0 if parent is None else self.mask(user, parent)
            for name in self.names[user]:
                mask |= self.grants.get((folder, name), 0)
            self.decided[key] = mask
        return mask

    def may(self, user, right, folder):
        self.asked += 1
        return right in rights(self.mask(user, folder))


class Journal:
    def __init__(self):
        self.counts = Counter()
        self.check = 1

    def note(self, number, user, right, folder, allowed):
        self.counts[right, allowed] += 1
        for sign in "%d %s %s %d" % (number, user, right, folder):
            self.check = (self.check * 33 + ord(sign)) % 1_000_003


def one_pass(number, step):
    rnd = random.Random(number)
    space = Workspace(rnd)
    journal = Journal()
    wanted = list(RIGHTS)
    for at in range(3600):
        if at % 900 == 899:
            space.grant()
        user, right, folder = "u%03d" % rnd.randrange(12), rnd.choice(wanted), rnd.randrange(20, 40)
        journal.note(number * 10_000 + at, user, right, folder, space.may(user, right, folder))
    return space.asked, space.walked, journal.check, sorted(journal.counts.items())


if __name__ == "__main__":
    run(one_pass)
