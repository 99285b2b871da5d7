# SPDX-License-Identifier: Apache-2.0
"""A spreadsheet of departments' budgets: computed columns are formulas over the cells of their row."""

import ast
import functools
import json
import operator
import random
import zlib
from datetime import date, timedelta

from runner import run

OPERATORS = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.USub: operator.neg,
}
FUNCTIONS = {"max": max, "min": min, "round": round, "abs": abs}
GIVEN = ("salaries", "rooms", "travel", "devices", "income", "staff")


def columns(rng):
    """The computed columns, in the order of their dependence."""
    a, b, c = rng.randint(3, 40), rng.randint(2, 9), rng.randint(100, 900)
    return {
        "fixed_cost": "salaries * (1 + 0.%02d) + rooms * 12 - min(rooms, %d)" % (a, c),
        "running": "travel + devices / %d + max(travel - income / 10, 0)" % b,
        "total": "fixed_cost + running + abs(income - fixed_cost) * 0.0%d" % b,
        "head": "total / max(staff, 1)",
        "share": "round(100 * running / (total + %d), 2)" % c,
        "verdict": "-1 * (total - income) / max(head * %d, 1) + share" % b,
    }


def parse(formula):
    return ast.parse(formula, mode="eval").body


def evaluate(node, row):
    match node:
        case ast.Constant(value=value):
            return value
        case ast.Name(id=name):
            return row[name]
        case ast.BinOp(left=left, op=op, right=right):
            return OPERATORS[type(op)](evaluate(left, row), evaluate(right, row))
        case ast.UnaryOp(op=op, operand=operand):
            return OPERATORS[type(op)](evaluate(operand, row))
        case ast.Call(func=ast.Name(id=name), args=args):
            return FUNCTIONS[name](*(evaluate(arg, row) for arg in args))
    raise ValueError("no formula: " + ast.dump(node))


def departments(rng, count):
    start = date(2020, 1, 1) + timedelta(days=rng.randrange(2_000))
    for i in range(count):
        row = {name: rng.randint(1_000, 90_000) for name in GIVEN}
        row["staff"] = rng.randint(1, 60)
        row["month"] = (start + timedelta(days=30 * i)).isoformat()[:7]
        yield row


def fill(row, formulas, understand):
    for name, formula in formulas.items():
        row[name] = evaluate(understand(formula), row)
    return row


def one_pass(number, understand):
    rng = random.Random(number)
    formulas = columns(rng)
    understand = understand()
    by_year = {}
    worst = None
    sent = 0
    for row in departments(rng, 1_500):
        fill(row, formulas, understand)
        year = row["month"][:4]
        by_year[year] = by_year.get(year, 0) + row["total"]
        sent = zlib.crc32(json.dumps(row, sort_keys=True).encode(), sent)
        if worst is None or row["verdict"] < worst["verdict"]:
            worst = row
    return sorted(by_year.items()), worst["month"], worst["verdict"], sent


if __name__ == "__main__":
    run(one_pass, lambda: parse, lambda: functools.cache(parse))
