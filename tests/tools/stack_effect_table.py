# SPDX-License-Identifier: Apache-2.0
"""Prints rows for pyintrospect/stack_effect_table.c of the interpreter that runs it; opcode_rows.py puts them there.

A row is {form, next, jump, flow, target}: how the evaluation stack's depth changes when
the instruction goes on to the next one (a constant, and what its argument adds by the
form), how when it jumps, where it can go on, and how its argument says where it jumps.

The changes are those of dis.stack_effect(), whose formula is found by asking for many
arguments, but for a few that are not what the interpreter does:

  3.6 to 3.8   it says the most values that a block's instruction may leave. Here is
               what happens when there is no exception.
  3.11         it counts a call's arguments as gone at PRECALL, CALL takes them.
  3.10         GEN_START, a generator's first instruction, takes what was sent to it.
  3.11, 3.12   a generator goes on with what was sent to it on the stack.
"""
import dis
import opcode
import sys

VERSION = sys.version_info[:2]
# Not of compiled code, or the original opcode is kept elsewhere.
EXCLUDED = ("ENTER_EXECUTOR", "TRACE_RECORD", "RESERVED", "CACHE", "INTERPRETER_EXIT", "EXIT_INIT_CHECK")
ARGUMENTS = list(range(40)) + [63, 64, 127, 128, 255, 256, 257, 258, 0x1FF, 0x203, 0x1234]
FORMS = [
    ("CONSTANT", lambda a: 0),
    ("MINUS_ARGUMENT", lambda a: -a),
    ("PLUS_ARGUMENT", lambda a: a),
    ("MINUS_TWICE", lambda a: -2 * a),
    ("PLUS_BIT_0", lambda a: a & 1),
    ("MINUS_BIT_0", lambda a: -(a & 1)),
    ("MINUS_BIT_2", lambda a: -(a >> 2 & 1)),
    ("MINUS_BITS_0_TO_3", lambda a: -bin(a & 15).count("1")),
    ("PLUS_BOTH_BYTES", lambda a: (a & 255) + (a >> 8)),
    ("MINUS_ONE_AT_3", lambda a: -(a == 3)),
]
# To 3.7 dis.stack_effect() does not know of jumps; these lose or keep a value as in 3.8.
JUMP_CHANGES = {"FOR_ITER": (1, -1), "JUMP_IF_FALSE_OR_POP": (-1, 0), "JUMP_IF_TRUE_OR_POP": (-1, 0),
                "SETUP_LOOP": (0, 0), "SETUP_EXCEPT": (0, 6), "SETUP_FINALLY": (0, 6), "SETUP_WITH": (1, 6),
                "SETUP_ASYNC_WITH": (0, 5)}
BLOCK_CHANGES = {"BEGIN_FINALLY": 1, "END_FINALLY": -1, "POP_FINALLY": -1, "WITH_CLEANUP_START": 1,
                 "WITH_CLEANUP_FINISH": -2, "POP_EXCEPT": -3, "BREAK_LOOP": 0, "CONTINUE_LOOP": 0}
ENDS = ("RETURN_VALUE", "RETURN_CONST", "RAISE_VARARGS", "RERAISE", "BREAK_LOOP", "CONTINUE_LOOP")
JUMPS = ("JUMP_FORWARD", "JUMP_ABSOLUTE", "JUMP_BACKWARD", "JUMP_BACKWARD_NO_INTERRUPT")
HANDLERS = ("SETUP_EXCEPT", "SETUP_FINALLY", "SETUP_WITH", "SETUP_ASYNC_WITH", "CALL_FINALLY")


def change(number, argument, jump):
    if VERSION < (3, 8):
        return dis.stack_effect(number, argument)
    return dis.stack_effect(number, argument, jump=jump)


def formula(number, jump):
    """(form, constant) of an opcode's effect."""
    values = {}
    if number in getattr(dis, "hasarg", [number] if number >= dis.HAVE_ARGUMENT else []):
        for argument in ARGUMENTS:
            try:
                values[argument] = change(number, argument, jump)
            except ValueError:
                pass
    else:
        values[0] = change(number, None, jump)
    for form, part in FORMS:
        constants = {value - part(argument) for argument, value in values.items()}
        if len(constants) == 1:
            return form, constants.pop()
    raise SystemExit("3.%d: no formula for %s" % (VERSION[1], dis.opname[number]))


def effect(name, number):
    """(form, constant, change at a jump)."""
    if name in ("NOP", "EXTENDED_ARG", "GEN_START"):
        return "CONSTANT", 0, 0
    if VERSION == (3, 11) and name == "PRECALL":
        return "CONSTANT", 0, 0
    if VERSION == (3, 11) and name == "CALL":
        return "MINUS_ARGUMENT", -1, 0
    if VERSION in ((3, 11), (3, 12)) and name == "RETURN_GENERATOR":
        return "CONSTANT", 1, 0
    if VERSION < (3, 8) and name in JUMP_CHANGES:
        return ("CONSTANT",) + JUMP_CHANGES[name]
    if VERSION < (3, 9) and name in BLOCK_CHANGES:
        return "CONSTANT", BLOCK_CHANGES[name], 0
    form, constant = formula(number, False)
    jump = 0
    if target(name, number) != "NONE":
        jump_form, jump = formula(number, True)
        if jump_form != "CONSTANT":
            raise SystemExit("3.%d: %s jumps with its argument" % (VERSION[1], name))
    return form, constant, jump


def target(name, number):
    if name in ("CONTINUE_LOOP", "END_ASYNC_FOR"):  # the latter's argument is for sys.monitoring
        return "NONE"
    if number in dis.hasjabs:
        return "ABSOLUTE"
    if number in dis.hasjrel:
        return "BACKWARD" if "BACKWARD" in name else "FORWARD"
    return "NONE"


def flow(name, number):
    if name == "END_FINALLY":
        return "END_FINALLY"
    if name in ENDS:
        return "END"
    if name in JUMPS:
        return "JUMP"
    if name in HANDLERS:
        return "HANDLER"
    return "NEXT" if target(name, number) == "NONE" else "BRANCH"


def main():
    names = opcode.opmap if VERSION >= (3, 13) else dis.opmap
    specialised = getattr(dis, "deoptmap", {})
    print("static const struct stack_effect effects_3_%d[256] = {" % VERSION[1])
    for name, number in sorted(names.items(), key=lambda item: item[1]):
        if number > 255 or name in EXCLUDED or name in specialised or name.startswith("INSTRUMENTED_"):
            continue
        form, constant, jump = effect(name, number)
        print("\t[%d] = { EFFECT_%s, %d, %d, FLOW_%s, TARGET_%s }, /* %s */" %
              (number, form, constant, jump, flow(name, number), target(name, number), name))
    print("};")


if __name__ == "__main__":
    main()
