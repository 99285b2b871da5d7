# SPDX-License-Identifier: Apache-2.0
"""Checks sources of a small shading language: tokens with their lines, scopes, names that are not declared or not used."""

import random
import re
from bisect import bisect_right
from collections import namedtuple

from common import run

Token = namedtuple("Token", "kind text line")
SHAPES = re.compile(r"(?P<space>\s+|//[^\n]*)|(?P<number>\d+(?:\.\d+)?)|(?P<name>[a-z_]\w*)|(?P<sign>[-+*/=<>(){},;])")
TYPES = {"float", "vec2", "vec3", "vec4", "mat3"}
WORDS = TYPES | {"return", "if", "uniform", "void"}
BUILT_IN = {"dot", "mix", "clamp", "normalize", "pow", "texture"}


class Lexer:
    def __init__(self, source):
        self.source = source

    def line_of(self, at):
        return self.source.count("\n", 0, at) + 1

    def tokens(self):
        for found in SHAPES.finditer(self.source):
            if found.lastgroup != "space":
                yield Token(found.lastgroup, found.group(), self.line_of(found.start()))


class TablingLexer(Lexer):
    def __init__(self, source):
        super().__init__(source)
        self.breaks = [found.start() for found in re.finditer("\n", source)]

    def line_of(self, at):
        return bisect_right(self.breaks, at) + 1


class Checker:
    def __init__(self):
        self.scopes = [{}]
        self.faults = []
        self.deepest = 0

    def declare(self, token):
        if token.text in self.scopes[-1]:
            self.faults.append("%d: %s is there already" % (token.line, token.text))
        self.scopes[-1][token.text] = [token.line, 0]

    def use(self, token):
        for scope in reversed(self.scopes):
            if token.text in scope:
                scope[token.text][1] += 1
                return
        self.faults.append("%d: %s is not declared" % (token.line, token.text))

    def close(self, token):
        for name, (line, used) in self.scopes.pop().items():
            if not used:
                self.faults.append("%d: %s is not used" % (line, name))

    def check(self, tokens):
        before = None
        for token in tokens:
            if token.text == "{":
                self.scopes.append({})
                self.deepest = max(self.deepest, len(self.scopes))
            elif token.text == "}":
                self.close(token)
            elif token.kind == "name" and token.text not in WORDS:
                if before is not None and before.text in TYPES | {"void"}:
                    self.declare(token)
                elif token.text not in BUILT_IN:
                    self.use(token)
            before = token
        return self.faults


def statement(rnd, names, depth):
    pad = "    " * depth
    new = "%s_%d" % (rnd.choice(("light", "shade", "depth", "tint")), rnd.randrange(60))
    left, right = rnd.choice(names), rnd.choice(names)
    text = "%s%s %s = mix(%s, %s * %.2f, %s);" % (pad, rnd.choice(("float", "vec3")), new, left, right, rnd.random(), left)
    names.append(new)
    return text + ("  // from %s" % left if rnd.random() < 0.2 else "")


def shader(rnd, parts):
    lines = ["uniform float time_;", "uniform vec3 sun;", ""]
    for at in range(parts):
        lines.append("vec3 part_%d(vec3 here) {" % at)
        names = ["here", "sun", "time_"]
        for _ in range(rnd.randint(5, 14)):
            lines.append(statement(rnd, names, 1))
            if rnd.random() < 0.15:
                lines.append("    if (%s < 0.5) {" % names[-1])
                lines.extend(statement(rnd, list(names), 2) for _ in range(3))
                lines.append("    }")
        lines.append("    return %s;\n}\n" % names[-1])
    return "\n".join(lines)


def one_pass(number, lexer):
    rnd = random.Random(number)
    source = shader(rnd, 40)
    checker = Checker()
    faults = checker.check(lexer(source).tokens())
    return len(source), len(faults), faults[:4], checker.deepest


if __name__ == "__main__":
    run(one_pass, Lexer, TablingLexer)
