#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints pyintrospect/opcode_table.c or stack_effect_table.c anew, with what opcode_table.py or
stack_effect_table.py printed under some interpreters, on stdin; the other minors keep what they have.

    python3.14 tests/tools/opcode_table.py | tests/tools/opcode_rows.py pyintrospect/opcode_table.c

Both files have one row of an opcode for all minors whose values are the same.
"""
import re
import sys

MINORS = range(6, 1 + int(re.search(r"PYTHON_MINOR_MAX (\d+)", open("pyintrospect/offsets.h").read()).group(1)))


def printed(lines):
    """{minor: the rows' groups} of a generator's output."""
    minors, minor = {}, None
    for line in lines:
        heading = re.match(r"static const struct \w+ \w+_3_(\d+)\[256\]", line)
        if heading:
            minor = int(heading.group(1))
            minors[minor] = []
        row = re.match(r"\t\[(\d+)\] = \{ (.*?) \},(?: /\* (\w+) \*/)?$", line)
        if row:
            minors[minor].append(row.groups())
    return minors


def row_values(text, array):
    """Values of each row of an array in C, as words."""
    body = re.search(array + r"\[\] = \{\n(.*?)\};", text, re.S).group(1)
    return [re.findall(r"[\w-]+", row) for row in body.splitlines()]


def replaced(text, array, rows):
    return re.sub(r"(%s\[\] = \{\n).*?(\};)" % array, lambda m: m.group(1) + "\n".join(rows + [m.group(2)]),
                  text, flags=re.S)


def with_ranges(values):
    """[[name, first, last, value]] of {name: {minor: value}}, one for each run of minors with the same value."""
    rows = []
    for name in sorted(values):
        row = None
        for minor in MINORS:
            if minor not in values[name]:
                row = None
            elif row and row[3] == values[name][minor]:
                row[2] = minor
            else:
                row = [name, minor, minor, values[name][minor]]
                rows.append(row)
    return rows


def without_ranges(rows):
    values = {}
    for name, first, last, *value in rows:
        for minor in range(int(first), int(last) + 1):
            values.setdefault(name, {})[minor] = tuple(value)
    return values


def forget(values, minors):
    for by_minor in values.values():
        for minor in minors:
            by_minor.pop(minor, None)


def opcodes(text, new):
    bases, numbers = {}, {}
    for *columns, name, base in row_values(text, "opcode_rows"):
        bases[name] = base
        numbers[name] = {minor: int(number) for minor, number in zip(MINORS, columns) if int(number) >= 0}
    caches = without_ranges(row_values(text, "cache_rows"))
    forget(numbers, new)
    forget(caches, new)
    for minor, rows in new.items():
        rows = [[int(number)] + re.findall(r"\w+", values) for number, values, _ in rows]
        names = {number: name for number, name, _, _ in rows}
        for number, name, base, count in rows:
            base = names[int(base)]
            numbers.setdefault(name, {})[minor] = number
            if bases.setdefault(name, base) not in (base, "NULL") or (bases[name] == "NULL" and base != name):
                raise SystemExit("%s is a form of %s and of %s" % (name, bases[name], base))
            bases[name] = "NULL" if base == name else base
            if base == name and int(count):
                caches.setdefault(name, {})[minor] = (count,)
    lines = []
    for name in sorted(numbers):
        if numbers[name]:
            base = bases[name] if bases[name] == "NULL" else '"%s"' % bases[name]
            columns = ", ".join("%3d" % numbers[name].get(minor, -1) for minor in MINORS)
            lines.append('\t{ { %s }, "%s", %s },' % (columns, name, base))
    text = replaced(text, "opcode_rows", lines)
    return replaced(text, "cache_rows",
                    ['\t{ "%s", %d, %d, %s },' % (name, first, last, count[0])
                     for name, first, last, count in with_ranges(caches)])


def effects(text, new):
    values = without_ranges(row_values(text, "effect_rows"))
    forget(values, new)
    for minor, rows in new.items():
        for _, effect, name in rows:
            values.setdefault(name, {})[minor] = tuple(effect.split(", "))
    return replaced(text, "effect_rows",
                    ['\t{ "%s", %d, %d, { %s } },' % (name, first, last, ", ".join(effect))
                     for name, first, last, effect in with_ranges(values)])


def main():
    text = open(sys.argv[1]).read()
    sys.stdout.write((opcodes if "opcode_rows[]" in text else effects)(text, printed(sys.stdin)))


if __name__ == "__main__":
    main()
