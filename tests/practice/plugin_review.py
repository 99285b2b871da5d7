# SPDX-License-Identifier: Apache-2.0
"""A marketplace looks through the plugins that authors hand in: banned imports, bare excepts, long functions, names not used."""

import ast
import hashlib
import random
from abc import ABC, abstractmethod

from common import run

BANNED = {"ctypes", "subprocess", "socket", "pickle"}
MODULES = ["json", "re", "math", "ctypes", "socket", "datetime", "csv", "pickle", "random"]
PLUGINS = 4


class Plugin:
    def __init__(self, author, source):
        self.author = author
        self.source = source
        self.digest = hashlib.sha256(source.encode()).hexdigest()

    def tree(self):
        return ast.parse(self.source)

    @property
    def lines(self):
        return self.source.count("\n") + 1


class PluginFix(Plugin):
    def __init__(self, author, source):
        super().__init__(author, source)
        self.parsed = ast.parse(source)

    def tree(self):
        return self.parsed


class Rule(ABC):
    code = "X000"

    @abstractmethod
    def complaints(self, plugin):
        """Pairs of a line and a text."""

    def report(self, plugin):
        return [(plugin.digest[:8], self.code, line, text) for line, text in self.complaints(plugin)]


class BannedImports(Rule):
    code = "P101"

    def complaints(self, plugin):
        for node in plugin.tree().body:
            if isinstance(node, ast.Import):
                for alias in node.names:
                    if alias.name in BANNED:
                        yield node.lineno, f"{alias.name} is not allowed"


class UnusedImports(Rule):
    code = "P102"

    def complaints(self, plugin):
        tree = plugin.tree()
        brought = {alias.name: node.lineno for node in tree.body if isinstance(node, ast.Import) for alias in node.names}
        used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
        return sorted((line, f"{name} is not used") for name, line in brought.items() if name not in used)


class LongFunctions(Rule):
    code = "P201"

    def complaints(self, plugin):
        for node in plugin.tree().body:
            if isinstance(node, ast.FunctionDef) and node.end_lineno - node.lineno > 14:
                yield node.lineno, f"{node.name} has {node.end_lineno - node.lineno + 1} lines"


class BareExcepts(Rule):
    code = "P301"

    def complaints(self, plugin):
        for function in plugin.tree().body:
            for node in getattr(function, "body", ()):
                if isinstance(node, ast.Try) and any(handler.type is None for handler in node.handlers):
                    yield node.lineno, "an except without a type"


RULES = [BannedImports(), UnusedImports(), LongFunctions(), BareExcepts()]


def write_plugin(rnd):
    modules = rnd.sample(MODULES, 4)
    lines = [f"import {name}" for name in modules]
    for number in range(rnd.randint(8, 18)):
        lines.append(f"\n\ndef step_{number}(items, scale={rnd.random():.3f}):")
        lines.append("    total = {}")
        for turn in range(rnd.randint(2, 16)):
            lines.append(f"    total['k{turn}'] = sum(item['v{turn}'] * {rnd.randint(1, 99)} for item in items if item.get('n') != {turn})")
        lines += ["    try:", f"        total['x'] = {rnd.choice(modules)}.load(scale)", f"    except{rnd.choice(('', ' ValueError'))}:", "        pass"]
        lines.append("    return total")
    return "\n".join(lines)


def one_pass(number, plugin_of):
    rnd = random.Random(number)
    found, sizes = [], 0
    for at in range(PLUGINS):
        plugin = plugin_of(f"author{at % 4}", write_plugin(rnd))
        sizes += plugin.lines
        for rule in RULES:
            found += rule.report(plugin)
    return sizes, len(found), sorted(found)[:6]


if __name__ == "__main__":
    run(one_pass, Plugin, PluginFix)
