# SPDX-License-Identifier: Apache-2.0
"""Compiles the formulas of a configurator for machines: text to a tree, constants folded, equal parts shared, code for a stack, run by order."""

import operator
import random
import re

from common import run

TOKEN = re.compile(r"\s*(?:(\d+\.?\d*)|([a-z_]\w*)|(.))")
POWERS = {"+": 10, "-": 10, "*": 20, "/": 20}
WORK = {"+": operator.add, "-": operator.sub, "*": operator.mul, "/": lambda a, b: a / b if b else 0.0}


class Node:
    """A part of a formula; equal parts are one node."""

    __slots__ = ("number", "uses")


class Constant(Node):
    __slots__ = ("value",)

    def emit(self, code):
        code.instructions.append(("push", self.value))


class Name(Node):
    __slots__ = ("name",)

    def emit(self, code):
        code.instructions.append(("read", self.name))


class Call(Node):
    __slots__ = ("what", "left", "right")

    def emit(self, code):
        if self.number in code.slots:
            code.instructions.append(("slot", code.slots[self.number]))
            return
        self.left.emit(code)
        self.right.emit(code)
        code.instructions.append(("call", WORK[self.what]))
        if self.uses > 1:
            code.slots[self.number] = len(code.slots)
            code.instructions.append(("keep", code.slots[self.number]))


class Unit:
    """All nodes of one formula, by what they are made of."""

    def __init__(self):
        self.known = {}

    def make(self, kind, *parts):
        key = (kind, *(part.number if isinstance(part, Node) else part for part in parts))
        node = self.known.get(key)
        if node is None:
            node = self.known[key] = kind()
            node.number, node.uses = len(self.known), 0
            for name, part in zip(kind.__slots__, parts):
                setattr(node, name, part)
        node.uses += 1
        return node

    def call(self, what, left, right):
        """A call, or what is known of it already."""
        if isinstance(left, Constant) and isinstance(right, Constant):
            return self.make(Constant, WORK[what](left.value, right.value))
        if isinstance(right, Constant) and (what, right.value) in (("+", 0.0), ("-", 0.0), ("*", 1.0), ("/", 1.0)):
            return left
        return self.make(Call, what, left, right)


class Parser:
    def __init__(self, text, unit):
        self.tokens = [match.groups() for match in TOKEN.finditer(text)]
        self.at = 0
        self.unit = unit

    def peek(self):
        return self.tokens[self.at][2] if self.at < len(self.tokens) else None

    def take(self):
        self.at += 1
        return self.tokens[self.at - 1]

    def expression(self, power=0):
        left = self.operand()
        while POWERS.get(self.peek(), 0) > power:
            what = self.take()[2]
            left = self.unit.call(what, left, self.expression(POWERS[what]))
        return left

    def operand(self):
        number, name, _ = self.take()
        if number:
            return self.unit.make(Constant, float(number))
        if name:
            return self.unit.make(Name, name)
        inner = self.expression()
        self.take()
        return inner


class Code:
    """Instructions for a stack; parts used more than once are kept in slots."""

    def __init__(self, root):
        self.slots = {}
        self.instructions = []
        root.emit(self)

    def run(self, values):
        stack, kept = [], [0.0] * len(self.slots)
        for what, operand in self.instructions:
            if what == "push":
                stack.append(operand)
            elif what == "read":
                stack.append(values[operand])
            elif what == "call":
                right = stack.pop()
                stack[-1] = operand(stack[-1], right)
            elif what == "keep":
                kept[operand] = stack[-1]
            else:
                stack.append(kept[operand])
        return stack.pop()


def formula(rnd, names, depth):
    if depth == 0 or rnd.random() < 0.1:
        return rnd.choice(names) if rnd.random() < 0.7 else "%.1f" % rnd.uniform(0, 9)
    left, right = formula(rnd, names, depth - 1), formula(rnd, names, depth - 1)
    return "(%s %s %s)" % (left, rnd.choice("+-*/"), right)


def one_pass(number, step):
    rnd = random.Random(number)
    names = ["width", "depth", "load", "speed"]
    codes = [Code(Parser(formula(rnd, names, 6), Unit()).expression()) for _ in range(24)]
    total = 0.0
    for _ in range(10):
        values = {name: rnd.uniform(0.5, 4.0) for name in names}
        total += sum(max(-1e3, min(1e3, code.run(values))) for code in codes)
    return total, sum(len(code.instructions) for code in codes), sum(len(code.slots) for code in codes)


if __name__ == "__main__":
    run(one_pass)
