# SPDX-License-Identifier: Apache-2.0
"""An allotment society: plots and their tenants, water readings and hours of common work, and the yearly account of each."""

import random
from dataclasses import dataclass, field
from datetime import datetime

from runner import run

TASKS = ("hedge", "path", "gate", "compost", "well")
DAYS = ["%d %s 2032" % (day, month) for month in ("Apr", "May", "Jun") for day in (2, 9, 16, 23)]


@dataclass
class Tenant:
    number: int
    name: str
    plot: int
    metres: int
    litres: int = 0
    hours: float = 0.0
    visits: list = field(default_factory=list)


class Society:
    def __init__(self, tenants):
        self.tenants = tenants
        self.lost = 0
        self.by_month = {}

    def tenant(self, number):
        for tenant in self.tenants:
            if tenant.number == number:
                return tenant
        return None

    def day(self, text):
        return datetime.strptime(text, "%d %b %Y").date()

    def water(self, number, litres):
        tenant = self.tenant(number)
        if tenant is None:
            self.lost += 1
            return
        tenant.litres += litres

    def work(self, number, text, task, hours):
        tenant = self.tenant(number)
        if tenant is None:
            self.lost += 1
            return
        day = self.day(text)
        bonus = 1.25 if task == "compost" or day.weekday() >= 5 else 1.0
        tenant.hours += hours * bonus
        tenant.visits.append((day, task))
        self.by_month[day.month, task] = self.by_month.get((day.month, task), 0.0) + hours

    def account(self, number):
        tenant = self.tenant(number)
        rent = tenant.metres * 85 + max(0, tenant.litres - 4_000) * 2 // 10
        owed = rent + round(max(0.0, 12.0 - tenant.hours) * 1_500)
        last = max(tenant.visits, default=(None, "none"))
        return f"{tenant.number:06d} {tenant.name:<14} plot {tenant.plot:3d} {tenant.litres:6d} l {tenant.hours:5.1f} h {owed / 100:9.2f} {last[1]}"


class SocietyFixed(Society):
    def __init__(self, tenants):
        super().__init__(tenants)
        self.by_number = {tenant.number: tenant for tenant in tenants}
        self.days = {}

    def tenant(self, number):
        return self.by_number.get(number)

    def day(self, text):
        if text not in self.days:
            self.days[text] = super().day(text)
        return self.days[text]


def tenants(rnd, seed):
    made = [Tenant(seed * 1_000 + at, "%s. %s" % (rnd.choice("ABCDEFGH"), rnd.choice(("Weir", "Moss", "Lund", "Kerr", "Dahl"))), at, rnd.randint(90, 320)) for at in range(280)]
    rnd.shuffle(made)
    return made


def entries(rnd, seed):
    for _ in range(4_500):
        number = seed * 1_000 + rnd.randrange(283)
        if rnd.random() < 0.5:
            yield "water", number, rnd.randint(20, 900)
        else:
            yield "work", number, rnd.choice(DAYS), rnd.choice(TASKS), rnd.randint(1, 8) / 2


def one_pass(number, step):
    rnd = random.Random(number)
    society = step(tenants(rnd, number))
    for kind, *entry in entries(rnd, number):
        (society.water if kind == "water" else society.work)(*entry)
    accounts = [society.account(number * 1_000 + at) for at in range(280)]
    return society.lost, sorted(society.by_month.items()), accounts[:3]


if __name__ == "__main__":
    run(one_pass, Society, SocietyFixed)
