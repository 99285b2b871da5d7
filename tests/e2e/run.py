#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the end-to-end tests: every function test_* of every file test_*.py here.

    tests/e2e/run.py [WORD ...]     only tests whose name has one of the words

A test that takes `interpreter` runs once for every interpreter found. A skip
names its reason; with CI set, a skip that is not in EXPECTED_SKIPS fails.
"""
import importlib
import inspect
import os
import sys
import time
import traceback

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import harness  # noqa: E402

EXPECTED_SKIPS = ("needs root", "no interpreter with numpy built as")


def cases():
    for name in sorted(os.listdir(os.path.dirname(os.path.abspath(__file__)))):
        if not name.startswith("test_") or not name.endswith(".py"):
            continue
        module = importlib.import_module(name[:-3])
        for test, function in sorted(vars(module).items(), key=lambda item: str(item[0])):
            if test.startswith("test_") and inspect.isfunction(function):
                yield "%s.%s" % (name[5:-3], test[5:]), function


def run(name, function, arguments):
    """One of "passed", "failed", "skipped"."""
    began = time.monotonic()
    try:
        function(**arguments)
    except harness.Skip as reason:
        expected = any(text in str(reason) for text in EXPECTED_SKIPS)
        print("[ SKIPPED  ] %s: %s" % (name, reason), flush=True)
        return "skipped" if expected or not os.environ.get("CI") else "failed"
    except harness.Failure as failure:
        print("[  FAILED  ] %s: %.600s" % (name, failure), flush=True)
        return "failed"
    except Exception:
        traceback.print_exc()
        print("[  FAILED  ] %s" % name, flush=True)
        return "failed"
    print("[       OK ] %s (%.1f s)" % (name, time.monotonic() - began), flush=True)
    return "passed"


def main(words):
    counts = {"passed": 0, "failed": 0, "skipped": 0}
    interpreters = harness.find_interpreters()
    print("interpreters: %s" % ", ".join(interpreter.name for interpreter in interpreters))
    for name, function in cases():
        if words and not any(word in name for word in words):
            continue
        if "interpreter" in inspect.signature(function).parameters:
            if not interpreters:
                counts["failed"] += 1
                print("[  FAILED  ] %s: no interpreter with numpy found" % name)
            for interpreter in interpreters:
                full = "%s [%s]" % (name, interpreter.name)
                counts[run(full, function, {"interpreter": interpreter})] += 1
        else:
            counts[run(name, function, {})] += 1
    print("\n%(passed)d passed, %(failed)d failed, %(skipped)d skipped" % counts)
    return 1 if counts["failed"] or not counts["passed"] else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
