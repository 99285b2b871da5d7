# SPDX-License-Identifier: Apache-2.0
"""The gate before a back office: each request gets a session, its user's roles are opened out into rights, and the asked path is judged."""

import hashlib
import json
import random
from collections import Counter
from functools import lru_cache

from common import run

PARTS = ("invoices", "orders", "stock", "staff", "reports", "settings", "returns", "suppliers")
VERBS = ("read", "write", "approve", "delete")


class Directory:
    """Roles stand on other roles; each grants patterns such as "orders:*" and may take some back."""

    def __init__(self, rnd):
        self.rnd = rnd
        self.roles = {}
        self.version = 0
        names = ["role%02d" % at for at in range(24)]
        for at, name in enumerate(names):
            self.roles[name] = {
                "below": rnd.sample(names[:at], min(at, rnd.randint(1, 2))),
                "grants": ["%s:%s" % (rnd.choice(PARTS), rnd.choice(VERBS + ("*",))) for _ in range(3)],
                "denies": ["%s:%s" % (rnd.choice(PARTS), rnd.choice(VERBS))] if rnd.random() < 0.3 else [],
            }

    def opened(self, pattern):
        part, _, verb = pattern.partition(":")
        return {(part, each) for each in (VERBS if verb == "*" else (verb,))}

    def expand(self, role):
        rights, todo, met = set(), [role], set()
        while todo:
            name = todo.pop()
            if name in met:
                continue
            met.add(name)
            todo.extend(self.roles[name]["below"])
            for pattern in self.roles[name]["grants"]:
                rights |= self.opened(pattern)
        for pattern in self.roles[role]["denies"]:
            rights -= self.opened(pattern)
        return frozenset(rights)

    def change(self):
        role = self.rnd.choice(list(self.roles))
        self.roles[role]["grants"].append("%s:%s" % (self.rnd.choice(PARTS), self.rnd.choice(VERBS)))
        self.version += 1


class Session:
    def __init__(self, directory, user, roles):
        self.directory, self.user, self.roles = directory, user, roles

    @lru_cache(maxsize=512)
    def rights(self, role):
        return self.directory.expand(role)

    def may(self, part, verb):
        return any((part, verb) in self.rights(role) for role in self.roles)


class SharingSession(Session):
    @staticmethod
    @lru_cache(maxsize=512)
    def kept(directory, version, role):
        return directory.expand(role)

    def rights(self, role):
        return self.kept(self.directory, self.directory.version, role)


class Gate:
    def __init__(self, directory, kind):
        self.directory, self.kind = directory, kind
        self.answers = Counter()
        self.trail = hashlib.sha256()

    def receive(self, request):
        told = json.loads(request)
        session = self.kind(self.directory, told["user"], told["roles"])
        wanted = [tuple(step.split("/")) for step in told["steps"]]
        allowed = [session.may(part, verb) for part, verb in wanted]
        status = 200 if all(allowed) else 207 if any(allowed) else 403
        self.answers[status] += 1
        self.trail.update(json.dumps({"id": told["id"], "user": session.user, "status": status}).encode())
        return status


def requests(rnd, users, many):
    for serial in range(many):
        user = rnd.choice(list(users))
        steps = ["%s/%s" % (rnd.choice(PARTS), rnd.choice(VERBS)) for _ in range(rnd.randint(1, 4))]
        yield json.dumps({"id": serial, "user": user, "roles": users[user], "steps": steps})


def one_pass(number, kind):
    rnd = random.Random(number)
    directory = Directory(rnd)
    users = {"u%03d" % at: rnd.sample(list(directory.roles), rnd.randint(1, 3)) for at in range(80)}
    gate = Gate(directory, kind)
    for serial, request in enumerate(requests(rnd, users, 1_200)):
        if serial % 300 == 299:
            directory.change()
        gate.receive(request)
    return sorted(gate.answers.items()), gate.trail.hexdigest()


if __name__ == "__main__":
    run(one_pass, Session, SharingSession)
