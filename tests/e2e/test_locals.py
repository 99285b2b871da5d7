# SPDX-License-Identifier: Apache-2.0
"""`pieprofd dump --locals`: the variables of every frame, in words."""
import re

from harness import check, check_equal, pieprofd, wait_until
from test_dump import dumped, innermost_python, switches, waiting_target

# Of `sleep` in local_values.py, but for what holds addresses.
VALUES = {
    "nothing": "None", "true": "True", "false": "False", "small": "7", "negative": "-1000000000000000000",
    "large": str(2 ** 100), "real": "0.1", "whole_real": "2.0", "wide_real": "3600.0", "tiny": "5e-324", "infinite": "-inf",
    "imaginary": "(1+2j)", "text": "'grüße 漢 😀'", "quoted": "'it\\'s\\n\\x1b[31m\u202e'",
    "data": "b'a\\x00\\xff\\''", "array": "bytearray(b'abc')",
    "pair": "(1, 'two')", "single": "(None,)", "empty": "()", "numbers": "[1, 2]", "rest": "(3, 4)", "keyword": "'k'",
    "others": "{'other': 5}", "long_list": "[0, 1, 2, 3, 4, 5, 6, 7, ... 92 more]",
    "nested": "[[[[... 1 more]]], {'a': {'b': [... 1 more]}}]", "mapping": "{'key': [1, 2]}",
    "numbered": "{0: 0, 1: 1, 2: 4, 3: 9, 4: 16, 5: 25, 6: 36, 7: 49, ... 42 more}",
    "group": "{3}", "frozen": "frozenset({4})", "no_group": "set()", "row": "Row([1, 2])",
    "cyclic": "[[[[... 1 more]]]]", "kept": "'in a cell'",
}


def variables(frame):
    return {variable["name"]: variable["value"] for variable in frame["locals"]}


def thread_of(dump, name):
    return next(thread for thread in dump["threads"] if thread["name"] == name)


def frame_of(frames, function):
    return next(frame for frame in reversed(frames) if frame.get("function", "").split(".")[-1] == function)


def settled(pid):
    """All threads sleep: how often each went to sleep until then."""
    seen = [None, switches(pid)]

    def same():
        seen[:] = seen[1], switches(pid)
        return seen[0] == seen[1]
    wait_until(same, what="threads that sleep", interval=0.2)
    return seen[1]


def test_values(interpreter):
    with waiting_target(interpreter, "local_values.py", "--numpy") as (target, _):
        before = settled(target.pid)
        dump = dumped(target.pid, "--locals")
        text = pieprofd("dump", "--pid", target.pid, "--locals", "--no-native").stdout
        without = dumped(target.pid)
        # Nobody was so much as woken up.
        check_equal(switches(target.pid), before, "times that threads went to sleep")
    frames = thread_of(dump, "<lambda>")["frames"]
    found = variables(frame_of(frames, "sleep"))
    for name, value in VALUES.items():
        check_equal(found.get(name), value, name)
    check("unset" not in found, "a variable without a value is there: %s" % found.get("unset"))
    check_equal(found["long_text"], "'" + "x" * 96 + "'... 4904 more", "a long string")
    check_equal(found["huge"], "<int of 991 to 1020 bits>", "a long number")
    for name, kind in (("point", "Point"), ("trap", "Trap"), ("lock", "_thread.lock"), ("inner", "function")):
        check(re.fullmatch("<%s 0x[0-9a-f]+>" % kind, found[name]), "%s: %s" % (name, found[name]))
    check_equal(found["counts"].split("(")[0].split(".")[-1], "OrderedDict", "a derived type")
    check(found["counts"].endswith("({'a': 1})"), "counts: %s" % found["counts"])
    types = {variable["name"]: variable["type"] for variable in frame_of(frames, "sleep")["locals"]}
    check_equal([types[name] for name in ("small", "text", "row", "point")], ["int", "str", "Row", "Point"], "types")
    # The cell of another function's variable, on both sides.
    check_equal(variables(innermost_python(thread_of(dump, "<lambda>")))["kept"], "'in a cell'", "a free variable")
    arrays = variables(frame_of(thread_of(dump, "shapes")["frames"], "shapes"))
    check(arrays["matrix"].startswith("<numpy.ndarray float64[1000,3] 0x"), "matrix: %s" % arrays["matrix"])
    check(arrays["column"].startswith("<numpy.ndarray int32[3] 0x"), "column: %s" % arrays["column"])
    check_equal(arrays["scalar"], "numpy.float64(1.5)", "scalar")
    # In the text each is on a line of its own, and nothing gets at the terminal.
    check("            small = 7\n" in text, "the text has no variables")
    check("\x1b" not in text and "\u202e" not in text, "control characters in the text")
    for thread in without["threads"]:
        check(all("locals" not in frame for frame in thread["frames"]), "variables without being asked for")
    if interpreter.version >= (3, 8):
        named = [variables(frame)["name"] for task in dump["tasks"] for frame in task["frames"]
                 if frame["function"].split(".")[-1] == "waits"]
        check_equal(sorted(named), ["'task 1'", "'task 2'"], "variables of tasks that wait")


def test_running_thread(one_interpreter):
    """They are read while the thread is stopped: what belongs together is of one moment."""
    with waiting_target(one_interpreter, "local_values.py", "--work") as (target, _):
        totals = []
        for _ in range(3):
            frame = frame_of(thread_of(dumped(target.pid, "--locals"), "work")["frames"], "work")
            found = variables(frame)
            check_equal(found["label"], "'working'", "label")
            totals.append(int(found["total"]))
    check(totals == sorted(totals), "totals: %s" % totals)
    check(all(total % sum(range(100)) == 0 for total in totals), "totals: %s" % totals)
