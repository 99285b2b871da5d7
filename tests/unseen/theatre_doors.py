# SPDX-License-Identifier: Apache-2.0
"""The doors of a theatre ask a server who may pass: people have roles, and roles stand on other roles."""

import asyncio
import random

from runner import run

AREAS = ("foyer", "stalls", "stage", "flies", "trap", "pit", "workshop", "wardrobe", "bar", "roof", "office", "store")
HOURS = ("day", "evening", "night")
ROLES = 24
REQUESTS = 1300


class House:
    def __init__(self, seed):
        rnd = random.Random(seed)
        self.under = {}
        self.rights = {}
        for role in range(ROLES):
            self.under[role] = rnd.sample(range(role), min(role, 3))
            self.rights[role] = {(rnd.choice(AREAS), rnd.choice(HOURS)) for _ in range(4)}
        self.log = []

    def gather(self, role):
        """All rights of a role: its own and those of each role that it stands on."""
        found, seen, open_roles = set(), {role}, [role]
        while open_roles:
            here = open_roles.pop()
            found |= self.rights[here]
            for lower in self.under[here]:
                if lower not in seen:
                    seen.add(lower)
                    open_roles.append(lower)
        return frozenset(found)

    def rights_of(self, role):
        return self.gather(role)

    async def ask(self, person, role, area, hour):
        await asyncio.sleep(0)
        passes = (area, hour) in self.rights_of(role)
        self.log.append("%s %s %s %s" % (person, area, hour, "in" if passes else "refused"))
        return passes


class HouseFixed(House):
    def __init__(self, seed):
        super().__init__(seed)
        self.gathered = {}

    def rights_of(self, role):
        if role not in self.gathered:
            self.gathered[role] = self.gather(role)
        return self.gathered[role]


async def door(house, area, requests):
    """One door's requests, one after the other; a person refused three times is held for a talk."""
    refusals, let_in = {}, 0
    for person, role, hour in requests:
        if refusals.get(person, 0) >= 3:
            continue
        if await house.ask(person, role, area, hour):
            let_in += 1
        else:
            refusals[person] = refusals.get(person, 0) + 1
    return area, let_in, sum(count >= 3 for count in refusals.values())


def evening(seed):
    rnd = random.Random(50_000 + seed)
    requests = {area: [] for area in AREAS}
    for _ in range(REQUESTS):
        person = "p%03d" % rnd.randrange(700)
        requests[rnd.choice(AREAS)].append((person, rnd.randrange(ROLES // 3, ROLES), rnd.choice(HOURS)))
    return requests


async def doors(house, requests):
    return await asyncio.gather(*(door(house, area, those) for area, those in requests.items()))


def one_pass(number, step):
    house = step(number)
    table = asyncio.run(doors(house, evening(number)))
    return table, len(house.log), house.log[:3]


if __name__ == "__main__":
    run(one_pass, House, HouseFixed)
