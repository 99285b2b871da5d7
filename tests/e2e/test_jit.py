# SPDX-License-Identifier: Apache-2.0
"""CPython's own JIT (3.13+, built in by Debian from 3.14 on, switched on by PYTHON_JIT=1): the same figures as without."""
import json
import subprocess

from harness import (MANY_SAMPLES, Skip, Target, check, check_sampled, copy_with, find_interpreters, line_text, pieprofd,
                     profile)

AVAILABLE = "import sys; print(sys._jit.is_available())"
CLASSES = ("python_ns", "native_ns", "system_ns")


def with_jit():
    """The newest of each minor version that was built with it, the JIT switched on."""
    found = {}
    for interpreter in find_interpreters():
        if interpreter.version >= (3, 14):
            run = subprocess.run([interpreter.path, "-c", AVAILABLE], cwd="/", capture_output=True, text=True,
                                 check=False)
            if run.stdout == "True\n":
                found[interpreter.version[:2]] = copy_with(interpreter, PYTHON_JIT="1")
    if not found:
        raise Skip("no interpreter with a JIT of its own")
    return found.values()


def part(line, time_class):
    return line[time_class] / max(1, sum(line[each] for each in CLASSES))


def test_time():
    for interpreter in with_jit():
        with Target(interpreter, "compiled_loops.py", stdin=subprocess.PIPE) as target:
            report, _ = profile(target.pid, "-d", 2, "--mode", "time", "--rate", 400, *MANY_SAMPLES)
            dump = json.loads(pieprofd("dump", "--pid", target.pid, "--json").stdout)
            target.check_undisturbed()
            check(target.finish().endswith("jit=1"), "the JIT is off")
        lines = {line_text(line).partition("# ")[2]: line for line in report["lines"]}
        check_sampled({"python", "native"} <= lines.keys(), "%s: %s" % (interpreter.name, lines))
        # What was compiled is the interpreter's, as the loop is that it stands for.
        check_sampled(part(lines["python"], "native_ns") < 0.1, "%s: %s" % (interpreter.name, lines["python"]))
        check_sampled(part(lines["native"], "native_ns") > 0.5, "%s: %s" % (interpreter.name, lines["native"]))
        check_sampled(report["losses"].get("merge_failed", 0) < 0.05 * report["samples"], report["losses"])
        functions = [frame["function"] for frame in dump["threads"][0]["frames"] if frame["kind"] == "python"]
        check(functions[:1] == ["<module>"] and functions[1:3] == ["main", "work"], functions)


def test_redundancy():
    for interpreter in with_jit():
        with Target(interpreter, "conv_backprop.py", "--seconds", 60) as target:
            report, _ = profile(target.pid, "-d", 4, *MANY_SAMPLES)
            target.check_undisturbed()
        hot = max(report["lines"], key=lambda line: sum(line[each] for each in CLASSES))
        check_sampled("g[f] += d[i, j, f] * r" in line_text(hot), "%s: the hottest is %s" % (interpreter.name, hot))
        loads = hot["loads"]
        check_sampled(loads["redundant"] > max(1, 0.5 * loads["sampled"]), "%s: %s" % (interpreter.name, loads))
