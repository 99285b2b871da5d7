# SPDX-License-Identifier: Apache-2.0
"""Alerts of a water works go to the engineers on duty: a rota by week with swaps and leave, and a pager message for each."""

import random
from collections import Counter
from dataclasses import dataclass

from runner import run

SITES = ("weir", "intake", "filter hall", "chlorine", "tower", "main east", "main west", "pump 4")
SKILLS = ("pumps", "valves", "control", "dosing")


@dataclass(frozen=True)
class Engineer:
    name: str
    years: int
    skills: tuple
    leave: tuple


class Rota:
    def __init__(self, engineers):
        self.engineers = engineers
        self.week = 0
        self.swaps = []
        self.load = Counter()
        self.sent = []
        self.open = {}

    def swap(self, one, other):
        self.swaps.append((one, other))

    def on_duty(self):
        """Those of the week by skill, the seasoned first; swaps count in the order that they were agreed in."""
        able = [engineer for engineer in self.engineers if self.week not in engineer.leave]
        able.sort(key=lambda engineer: (-engineer.years, engineer.name))
        turn = self.week % len(able)
        order = [engineer.name for engineer in able[turn:] + able[:turn]]
        for one, other in self.swaps[-6:]:
            if one in order and other in order:
                first, second = order.index(one), order.index(other)
                order[first], order[second] = order[second], order[first]
        skills = {engineer.name: engineer.skills for engineer in able}
        return {skill: [name for name in order if skill in skills[name]][:4] for skill in SKILLS}

    def choose(self, skill):
        names = self.on_duty()[skill] or [self.engineers[0].name]
        return min(names, key=lambda name: self.load[name])

    def message(self, number, site, skill, level, name):
        text = f"{number:07d} {site.upper()} {skill} level {level:.2f} for {name}"
        check = 0
        for sign in text.encode():
            check = (check * 31 + sign) & 0xFFFF
        return f"{text} <{check:04x}>"

    def raise_alert(self, number, site, skill, level):
        name = self.choose(skill)
        self.load[name] += 1 + (level > 0.8)
        self.open[number] = name
        self.sent.append(self.message(number, site, skill, level, name))

    def settle(self, number):
        name = self.open.pop(number, None)
        if name is not None:
            self.load[name] -= 1


class RotaFixed(Rota):
    def __init__(self, engineers):
        super().__init__(engineers)
        self.made = None, None

    def on_duty(self):
        state = self.week, len(self.swaps)
        if self.made[0] != state:
            self.made = state, super().on_duty()
        return self.made[1]


def crew(rnd):
    names = rnd.sample(["Ada", "Bo", "Cleo", "Dov", "Ede", "Finn", "Gil", "Hana", "Ivo", "Jon", "Kit", "Lea", "Mo", "Nell", "Oda", "Per"], 14)
    for name in names:
        yield Engineer(name, rnd.randint(1, 30), tuple(rnd.sample(SKILLS, rnd.randint(1, 3))), tuple(rnd.sample(range(12), 2)))


def one_pass(number, step):
    rnd = random.Random(number)
    rota = step(list(crew(rnd)))
    for at in range(2_400):
        if at % 200 == 199:
            rota.week += 1
        if rnd.random() < 0.004:
            one, other = rnd.sample(rota.engineers, 2)
            rota.swap(one.name, other.name)
        rota.raise_alert(number * 10_000 + at, rnd.choice(SITES), rnd.choice(SKILLS), rnd.random())
        if rnd.random() < 0.7:
            rota.settle(number * 10_000 + at - rnd.randrange(30))
    return sorted(rota.load.items()), len(rota.open), rota.sent[-2:]


if __name__ == "__main__":
    run(one_pass, Rota, RotaFixed)
