# SPDX-License-Identifier: Apache-2.0
"""Depths of the evaluation stack in code of the standard library, for tests/unit/pyintrospect_stack_depth.c.

    stack_depth_reference.py [PATTERN...]       such as '*.py', below the library's folder

Prints a line for each code object: its bytecode, its exception table (- where there is none), the
largest depth that its compiler saw, and offset:depth for each instruction that is reached, with ?
where it is reached with several depths. Found with the interpreter's own dis module: every depth that
an instruction can be reached with is kept, and what is on the stack for a handler to end with.
"""
import dis
import glob
import os
import sys
import types

VERSION = sys.version_info[:2]
SKIPPED = ("EXTENDED_ARG", "CACHE")
ENDS = {"RETURN_VALUE", "RETURN_CONST", "RAISE_VARARGS", "RERAISE", "BREAK_LOOP", "CONTINUE_LOOP"}
SETUPS = {"SETUP_EXCEPT", "SETUP_FINALLY", "SETUP_WITH", "SETUP_ASYNC_WITH"}
JUMPS = {"JUMP_FORWARD", "JUMP_ABSOLUTE", "JUMP_BACKWARD", "JUMP_BACKWARD_NO_INTERRUPT"}
# What happens at run time where the compiler reckons with more: (goes on, jumps).
ACTUAL = {"NOP": (0, 0), "GEN_START": (0, 0)}
if VERSION < (3, 8):
    ACTUAL.update({"FOR_ITER": (1, -1), "JUMP_IF_FALSE_OR_POP": (-1, 0), "JUMP_IF_TRUE_OR_POP": (-1, 0),
                   "SETUP_EXCEPT": (0, 6), "SETUP_FINALLY": (0, 6), "SETUP_WITH": (1, 6),
                   "SETUP_ASYNC_WITH": (0, 5)})
if VERSION < (3, 9):
    ACTUAL.update({"POP_EXCEPT": (-3, -3), "BEGIN_FINALLY": (1, 1)})
if VERSION in ((3, 11), (3, 12)):
    ACTUAL["RETURN_GENERATOR"] = (1, 1)


def change(instruction, jump):
    if instruction.opname in ACTUAL:
        return ACTUAL[instruction.opname][jump]
    argument = instruction.arg
    if VERSION == (3, 11) and instruction.opname == "PRECALL":
        return 0
    if VERSION == (3, 11) and instruction.opname == "CALL":
        return -argument - 1
    if VERSION < (3, 8):
        return dis.stack_effect(instruction.opcode, argument)
    return dis.stack_effect(instruction.opcode, argument, jump=jump)


def old_block(name, argument, depth, marks):
    """To 3.8: states behind what ends a block, or None. A mark is what a handler found: (base, values)."""
    if name == "POP_FINALLY":
        kept = bool(argument)  # the value on top
        if marks and sum(marks[-1]) + kept == depth:
            return [(marks[-1][0] + kept, marks[:-1])]
        return [(depth - 1, marks)]
    handling = bool(marks) and sum(marks[-1]) == depth
    if name == "END_FINALLY":
        return [] if handling else [(depth - 1, marks)]
    if name == "WITH_CLEANUP_START":
        return [(depth + 2, marks), (marks[-1][0] + 2, marks[:-1])] if handling else [(depth + 1, marks)]
    if name == "WITH_CLEANUP_FINISH":
        return [(depth - 2, marks)]
    return None


def successors(instruction, following, depth, marks):
    name = instruction.opname
    if name in ENDS:
        return
    states = old_block(name, instruction.arg, depth, marks) if VERSION < (3, 9) else None
    if states is not None:
        for state in states:
            yield (following,) + state
        return
    jumps = name != "END_ASYNC_FOR" and (instruction.opcode in dis.hasjrel or instruction.opcode in dis.hasjabs)
    if jumps:
        target = depth + change(instruction, True)
        if name in SETUPS:
            yield instruction.argval, target, marks + ((target - 6, 6),)
        elif name == "CALL_FINALLY":
            yield instruction.argval, target, marks + ((target - 1, 1),)
        else:
            yield instruction.argval, target, marks
    if name not in JUMPS:
        yield following, depth + change(instruction, False), marks


def depths(code):
    instructions = [i for i in dis.get_instructions(code) if i.opname not in SKIPPED]
    # A jump goes to the prefixes of what it jumps to.
    at, start = {}, None
    for i in dis.get_instructions(code):
        if start is None:
            start = i.offset
        if i.opname in SKIPPED:
            if i.opname == "CACHE":
                start = None
            continue
        at[start] = at[i.offset] = i
        start = None
    following = {a.offset: b.offset for a, b in zip(instructions, instructions[1:])}
    seen = {}
    todo = [(0, 0, ())]
    if VERSION >= (3, 11):
        todo += [(e.target, e.depth + 1 + bool(e.lasti), ()) for e in dis._parse_exception_table(code)]
    while todo:
        offset, depth, marks = todo.pop()
        instruction = at[offset]
        marks = tuple(m for m in marks if m[0] < depth)
        states = seen.setdefault(instruction.offset, set())
        if (depth, marks) in states:
            continue
        states.add((depth, marks))
        todo += successors(instruction, following.get(instruction.offset), depth, marks)
    return {offset: {depth for depth, marks in states} for offset, states in seen.items()}


def show(code):
    found = depths(code)
    print(code.co_code.hex(), getattr(code, "co_exceptiontable", b"").hex() or "-", code.co_stacksize,
          *["%d:%s" % (o, d.copy().pop() if len(d) == 1 else "?") for o, d in sorted(found.items())])
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            show(constant)


def main():
    folder = os.path.dirname(os.__file__)
    wanted = sys.argv[1:] or ["asyncio/[bt]*.py", "contextlib.py", "tempfile.py", "argparse.py", "typing.py"]
    for pattern in wanted:
        for path in sorted(glob.glob(os.path.join(folder, pattern))):
            with open(path, "rb") as file:
                show(compile(file.read(), path, "exec"))


if __name__ == "__main__":
    main()
