# SPDX-License-Identifier: Apache-2.0
"""A ferry's standby lists: who of those at the quay may board, and with which fare."""

import hashlib
import random

from common import run

FARES = {"foot": 12.5, "cycle": 16.0, "car": 48.0, "van": 61.5, "coach": 140.0}
PORTS = ("Aldra", "Bremnes", "Corva", "Dunmore", "Eide")


def quay(number, count):
    rng = random.Random(number)
    waiting = []
    for i in range(count):
        code = "%s%05d" % (rng.choice("KLMNP"), rng.randrange(10**5))
        waiting.append((code, rng.choice(PORTS), rng.choice(tuple(FARES)), rng.random()))
    barred = [code for code, *_ in rng.sample(waiting, count // 4)]
    return waiting, {"day": number, "barred": barred, "to": rng.sample(PORTS, 3)}


class Standby:
    def __init__(self, order):
        self.order = order

    def boarding(self, waiting):
        return {
            code: fare
            for code, port, fare, share in waiting
            if port in self.order["to"] and share < 0.9 and code not in frozenset(self.order["barred"])
        }


class StandbyOnce(Standby):
    def boarding(self, waiting):
        barred = frozenset(self.order["barred"])
        return {
            code: fare
            for code, port, fare, share in waiting
            if port in self.order["to"] and share < 0.9 and code not in barred
        }


def pass_text(code, fare, day):
    digest = hashlib.sha256(("%s|%s|%d" % (code, fare, day)).encode()).hexdigest()
    return "%s %-6s %8.2f  %s" % (code, fare, FARES[fare], digest[:24].upper())


def one_pass(number, kind):
    waiting, order = quay(number, 2500)
    boarding = kind(order).boarding(waiting)
    text = [pass_text(code, fare, number) for code, fare in sorted(boarding.items())]
    taken = sum(FARES[fare] for fare in boarding.values())
    return len(text), round(taken, 2), hashlib.md5("\n".join(text).encode()).hexdigest()


if __name__ == "__main__":
    run(one_pass, Standby, StandbyOnce)
