#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the end-to-end tests: every function test_* of every file test_*.py here.

    tests/e2e/run.py [WORD ...]     only tests whose name has one of the words

A test that takes `interpreter` runs once for every interpreter found; one that
takes `one_interpreter` is about the tracer and runs on the system's own alone,
unless PIEPROFD_TEST_ALL=1 has it run on all. One that a `check_sampled`
failed is run once more. At the end stands a table: a row
for each interpreter, a column for each test. A skip names its reason; with CI
set, a skip that is not in EXPECTED_SKIPS fails.
"""
import importlib
import inspect
import os
import signal
import sys
import time
import traceback

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import harness  # noqa: E402

EXPECTED_SKIPS = ("needs root", "no numpy for", "no interpreter with", "no network for playwright",
                  "no userfaultfd")


class Matrix:
    """What became of each test on each interpreter."""

    def __init__(self):
        self.rows = {}
        self.columns = []
        self.reasons = []

    def add(self, row, column, result, reason):
        if column not in self.columns:
            self.columns.append(column)
        if result == "skipped":
            if reason not in self.reasons:
                self.reasons.append(reason)
            result = "skip %d" % (self.reasons.index(reason) + 1)
        words = {"passed": "ok", "repeated": "ok (2nd)", "failed": "FAILED"}
        self.rows.setdefault(row, {})[column] = words.get(result, result)

    def show(self):
        if not self.columns:
            return
        # Each word of a test's name on a line of its own: columns stay narrow.
        titles = [column.split(".")[1].split("_") for column in self.columns]
        height = max(len(title) for title in titles)
        widths = [max([6] + [len(word) for word in title]) for title in titles]
        margin = max(len(row) for row in self.rows)
        print()
        for line in range(height):
            words = [(title[line] if line < len(title) else "").ljust(width) for title, width in zip(titles, widths)]
            print((" " * margin + "  " + "  ".join(words)).rstrip())
        for row, cells in self.rows.items():
            words = [cells.get(column, "").ljust(width) for column, width in zip(self.columns, widths)]
            print((row.ljust(margin) + "  " + "  ".join(words)).rstrip())
        for number, reason in enumerate(self.reasons):
            print("skip %d: %s" % (number + 1, reason))


def cases():
    for name in sorted(os.listdir(os.path.dirname(os.path.abspath(__file__)))):
        if not name.startswith("test_") or not name.endswith(".py"):
            continue
        module = importlib.import_module(name[:-3])
        for test, function in sorted(vars(module).items(), key=lambda item: str(item[0])):
            if test.startswith("test_") and inspect.isfunction(function):
                yield "%s.%s" % (name[5:-3], test[5:]), function


def run(name, function, arguments, repeated=False):
    """One of "passed", "repeated" (passed then), "failed", "skipped", and why it was skipped."""
    began = time.monotonic()
    interpreter = arguments.get("interpreter") or arguments.get("one_interpreter")
    try:
        if interpreter and interpreter.problem:
            raise harness.Skip(interpreter.problem)
        function(**arguments)
    except harness.Skip as reason:
        expected = any(text in str(reason) for text in EXPECTED_SKIPS)
        print("[ SKIPPED  ] %s: %s" % (name, reason), flush=True)
        return ("skipped" if expected or not os.environ.get("CI") else "failed"), str(reason)
    except harness.Failure as failure:
        if isinstance(failure, harness.Unlucky) and not repeated:
            print("[ REPEATED ] %s: %.600s" % (name, failure), flush=True)
            return run(name, function, arguments, repeated=True)
        print("[  FAILED  ] %s: %.600s" % (name, failure), flush=True)
        return "failed", None
    except Exception:
        traceback.print_exc()
        print("[  FAILED  ] %s" % name, flush=True)
        return "failed", None
    print("[       OK ] %s (%.1f s)" % (name, time.monotonic() - began), flush=True)
    return ("repeated" if repeated else "passed"), None


def main(words):
    # Ignored, where a shell runs us in the background, it would be so for all that we start.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    counts = {"passed": 0, "repeated": 0, "failed": 0, "skipped": 0}
    matrix = Matrix()
    interpreters, missing = harness.matrix()
    print("interpreters: %s" % ", ".join(interpreter.name for interpreter in interpreters))
    everywhere = os.environ.get("PIEPROFD_TEST_ALL") == "1"
    for name, function in cases():
        if words and not any(word in name for word in words):
            continue
        parameters = inspect.signature(function).parameters
        parameter = next((p for p in ("interpreter", "one_interpreter") if p in parameters), None)
        if parameter is None:
            counts[run(name, function, {})[0]] += 1
            continue
        if not harness.find_interpreters():
            counts["failed"] += 1
            print("[  FAILED  ] %s: no interpreter with numpy found" % name)
            continue
        for interpreter in interpreters:
            if parameter == "one_interpreter" and not everywhere and interpreter is not harness.default_interpreter():
                continue
            result, reason = run("%s [%s]" % (name, interpreter.name), function, {parameter: interpreter})
            counts[result] += 1
            if parameter == "interpreter" or everywhere:
                matrix.add(interpreter.name, name, result, reason)
    for what, reason in missing:
        print("[ SKIPPED  ] %s: %s" % (what, reason))
        counts["skipped"] += 1
        for column in list(matrix.columns):
            matrix.add(what, column, "skipped", reason)
    matrix.show()
    if counts["repeated"]:
        print("\n%(repeated)d passed at their second run only" % counts)
        counts["passed"] += counts["repeated"]
    print("\n%(passed)d passed, %(failed)d failed, %(skipped)d skipped" % counts)
    return 1 if counts["failed"] or not counts["passed"] else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
