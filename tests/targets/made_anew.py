# SPDX-License-Identifier: Apache-2.0
"""Postage by zone from a table that a function without arguments makes anew for each parcel, the same each time.

The parcels are others in each round. With --fixed the table is made once.
"""
import round_runner

ZONES = (3, 5, 8, 13, 21, 34)


def postage():
    """By zone and weight class, each class a tenth dearer."""
    table = {}
    for zone in ZONES:
        price = 90 + 11 * zone
        for weight in range(9):
            price = price * 11 // 10 - price % 7
            table[zone, weight] = price
    return table


def parcels(rng):
    for _ in range(40):
        label = "".join(rng.choice("ABCDEFGH") for _ in range(18))
        yield rng.choice(ZONES), rng.randrange(9), sum(map(ord, label)) % 97


def post(rng, fixed, number):
    kept = postage()
    total = paid = 0
    for zone, weight, check in parcels(rng):
        if fixed:
            paid = kept[zone, weight]
        else:
            paid = postage()[zone, weight]
        total += paid * (100 + check)
        if paid != kept[zone, weight]:
            return "another price"
    return None if total > 0 else "no total"


round_runner.run("made_anew", __doc__, post)
