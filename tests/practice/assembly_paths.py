# SPDX-License-Identifier: Apache-2.0
"""A parts list comes as one XML tree of assemblies: it is weighed and costed, and for parts under recall the way up to the machine is told."""

import random
from collections import Counter
from xml.etree import ElementTree
from xml.sax.saxutils import escape

from common import run

MAKERS = ("Aro", "Belt & Co", "Czerny", "Dural", "Ekman")
KINDS = ("bolt", "seal", "plate", "motor", "valve", "cable", "sensor")


def branch(rnd, depth, numbers):
    """Text of one assembly: some parts, and assemblies below it."""
    lines = []
    for _ in range(rnd.randint(2, 5)):
        lines.append(
            '<part id="P%05d" kind="%s" maker="%s" lot="L%03d" grams="%d" cents="%d" count="%d"/>'
            % (next(numbers), rnd.choice(KINDS), escape(rnd.choice(MAKERS)), rnd.randrange(60), rnd.randint(2, 4_000), rnd.randint(5, 90_000), rnd.randint(1, 8))
        )
    if depth:
        lines += [branch(rnd, depth - 1, numbers) for _ in range(rnd.randint(3, 4))]
    return '<assembly id="A%05d" name="unit %d" count="%d">%s</assembly>' % (next(numbers), depth, rnd.randint(1, 3), "".join(lines))


class Machine:
    def __init__(self, text):
        self.root = ElementTree.fromstring(text)

    def parents(self):
        return {child: parent for parent in self.root.iter() for child in parent}

    def way(self, part):
        """From the part up to the machine, with how many of it one machine has."""
        parents = self.parents()
        steps, count = [], int(part.get("count"))
        while part in parents:
            part = parents[part]
            steps.append(part.get("id"))
            count *= int(part.get("count"))
        return steps, count


class MachineFixed(Machine):
    def __init__(self, text):
        super().__init__(text)
        self.above = super().parents()

    def parents(self):
        return self.above


class Costing:
    """Sums over the whole tree, each assembly times its count."""

    def __init__(self):
        self.grams = Counter()
        self.cents = Counter()
        self.lines = []

    def add(self, assembly, times, depth):
        times *= int(assembly.get("count"))
        grams = cents = 0
        for child in assembly:
            if child.tag == "part":
                count = times * int(child.get("count"))
                grams += count * int(child.get("grams"))
                cents += count * int(child.get("cents"))
                self.grams[child.get("kind")] += count * int(child.get("grams"))
                self.cents[child.get("maker")] += count * int(child.get("cents"))
            else:
                below = self.add(child, times, depth + 1)
                grams, cents = grams + below[0], cents + below[1]
        self.lines.append("%s%-8s %10.3f kg %12.2f" % ("  " * depth, assembly.get("id"), grams / 1_000, cents / 100))
        return grams, cents


class Recall:
    def __init__(self, machine):
        self.machine = machine
        self.letters = []
        self.touched = Counter()

    def letter(self, part):
        steps, count = self.machine.way(part)
        self.touched.update(steps)
        head = "%s %s of %s, lot %s" % (part.get("kind"), part.get("id"), part.get("maker"), part.get("lot"))
        self.letters.append("%s: %d in each machine\n%s" % (head, count, " in ".join(steps)))

    def run(self, lots):
        for part in self.machine.root.iter("part"):
            if (part.get("maker"), part.get("lot")) in lots:
                self.letter(part)

    def first_stops(self):
        """Assemblies that have to be opened most often, the machine itself left out."""
        root = self.machine.root.get("id")
        return sorted(((count, name) for name, count in self.touched.items() if name != root), reverse=True)[:4]


def one_pass(number, make):
    rnd = random.Random(number)
    numbers = iter(range(1, 10**5))
    rows = []
    for _ in range(4):
        machine = make(branch(rnd, 4, numbers))
        costing = Costing()
        total = costing.add(machine.root, 1, 0)
        recall = Recall(machine)
        recall.run({(rnd.choice(MAKERS), "L%03d" % rnd.randrange(60)) for _ in range(12)})
        rows.append((total, costing.grams.most_common(3), costing.cents.most_common(2), recall.letters[-1:], recall.first_stops()))
    return rows


if __name__ == "__main__":
    run(one_pass, Machine, MachineFixed)
