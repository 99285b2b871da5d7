# SPDX-License-Identifier: Apache-2.0
"""Prints rows for pyintrospect/opcode_table.c of the interpreter that runs it; opcode_rows.py puts them there.

A row is {name, base, caches}: base is the opcode that compiled code has in this
place before the interpreter specialises or instruments it, caches is the number
of 2-byte inline cache entries that follow it; 255 where the code does not tell,
because the original opcode is kept elsewhere.
"""
import dis
import opcode
import sys


ELSEWHERE = ("INSTRUMENTED_LINE", "INSTRUMENTED_INSTRUCTION", "ENTER_EXECUTOR")


def rows():
    names = [n if not n.startswith("<") else None for n in dis.opname[:256]]
    names += [None] * (256 - len(names))
    base = list(range(256))
    caches = [0] * 256
    numbers = {n: o for n, o in getattr(dis, "_all_opmap", dis.opmap).items() if o < 256}
    for name, number in numbers.items():
        names[number] = name
    for specialised, plain in getattr(dis, "deoptmap", {}).items():
        if specialised in numbers and plain in numbers:
            base[numbers[specialised]] = numbers[plain]
    entries = getattr(opcode, "_inline_cache_entries", {})
    for number in numbers.values():
        plain = base[number]
        if hasattr(entries, "get"):
            caches[number] = entries.get(names[plain], 0)
        elif plain < len(entries):
            caches[number] = entries[plain]
    for name, number in numbers.items():
        plain = numbers.get(name[len("INSTRUMENTED_"):]) if name.startswith("INSTRUMENTED_") else None
        if plain is not None:
            base[number] = plain
            caches[number] = caches[plain]
    for name in ELSEWHERE:
        if name in numbers:
            caches[numbers[name]] = 255
    return [(o, names[o], base[o], caches[o]) for o in range(256) if names[o]]


def main():
    print("static const struct opcode_info opcodes_3_%d[256] = {" % sys.version_info[1])
    for number, name, base, caches in rows():
        print('\t[%d] = { "%s", %d, %d },' % (number, name, base, caches))
    print("};")


if __name__ == "__main__":
    main()
