# SPDX-License-Identifier: Apache-2.0
"""A linter of a company's scripts: rules registered by code look at each file's lines, tokens or tree, and findings are printed by file."""

import ast
import io
import random
import tokenize
from collections import Counter

from common import run

RULES = {}


class SourceFile:
    """One file, as rules want to see it."""

    def __init__(self, name, text):
        self.name = name
        self.text = text
        self.lines = text.splitlines()
        self.nodes = list(ast.walk(ast.parse(text)))

    @property
    def tokens(self):
        return list(tokenize.generate_tokens(io.StringIO(self.text).readline))


class SourceFileFixed(SourceFile):
    def __init__(self, name, text):
        super().__init__(name, text)
        self.found = super().tokens

    @property
    def tokens(self):
        return self.found


class Rule:
    code = None

    def __init_subclass__(cls):
        if cls.code:
            RULES[cls.code] = cls()

    def check(self, source):
        raise NotImplementedError


class Quotes(Rule):
    code = "Q000"

    def check(self, source):
        return [token.start[0] for token in source.tokens if token.type == tokenize.STRING and token.string.startswith("'")]


class Spacing(Rule):
    code = "E225"
    signs = frozenset(("=", "+", "-", "*", "==", "<"))

    def check(self, source):
        before = None
        for token in source.tokens:
            if before and token.type == tokenize.OP and token.string in self.signs and before.end == token.start:
                yield token.start[0]
            before = token


class Todo(Rule):
    code = "T100"

    def check(self, source):
        return [token.start[0] for token in source.tokens if token.type == tokenize.COMMENT and "todo" in token.string.lower()]


class Visiting(Rule):
    """Base of the rules that look at the tree; `kinds` says at which nodes."""

    kinds = ()

    def check(self, source):
        return [node.lineno for node in source.nodes if isinstance(node, self.kinds) and self.bad(node)]


class ManyArguments(Visiting):
    code = "R913"
    kinds = (ast.FunctionDef,)

    def bad(self, node):
        return len(node.args.args) > 3


class Unused(Visiting):
    code = "F841"
    kinds = (ast.FunctionDef,)

    def bad(self, node):
        names = [inner for inner in ast.walk(node) if isinstance(inner, ast.Name)]
        read = {name.id for name in names if isinstance(name.ctx, ast.Load)}
        return any(isinstance(name.ctx, ast.Store) and name.id not in read for name in names)


class Report:
    def __init__(self):
        self.lines = []
        self.counts = Counter()

    def add(self, source):
        found = [(line, code) for code, rule in RULES.items() for line in rule.check(source)]
        for line, code in sorted(found):
            self.lines.append("%s:%d: %s %s" % (source.name, line, code, source.lines[line - 1].strip()[:40]))
        self.counts.update(code for _, code in found)


def script(rnd):
    out = ["import os", ""]
    for at in range(rnd.randint(6, 12)):
        names = rnd.sample(("rate", "total", "day", "left", "stock", "price", "name", "row"), rnd.randint(1, 5))
        out.append("def job_%d(%s):" % (at, ", ".join(names)))
        for line in range(rnd.randint(2, 6)):
            sign = rnd.choice((" + ", " * ", "-", " - "))
            out.append("    v%d = %s%s%d" % (line, rnd.choice(names), sign, rnd.randrange(10_000)))
            if rnd.random() < 0.3:
                out.append("    # %s %08x" % (rnd.choice(("TODO: check", "see note", "as agreed with sales and with the stores")), rnd.getrandbits(32)))
        out += ["    return os.path.join(%s, v0)" % rnd.choice(("'out'", '"out"')), "", ""]
    return "\n".join(out) + "\n"


def one_pass(number, kind):
    rnd = random.Random(number)
    report = Report()
    for at in range(5):
        report.add(kind("job_%02d.py" % at, script(rnd)))
    return sorted(report.counts.items()), len(report.lines), report.lines[:3], report.lines[-1]


if __name__ == "__main__":
    run(one_pass, SourceFile, SourceFileFixed)
