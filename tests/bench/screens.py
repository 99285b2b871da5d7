#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Whether the first screen says what a program is slow for: each program of tests/targets/screens/, once.

    tests/bench/screens.py [--seconds 10] [--show] [WORD ...]
"""
import argparse
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, "e2e"))

from harness import Failure, Skip, default_interpreter, with_packages  # noqa: E402
from screens import PROGRAMS, Screen  # noqa: E402


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("words", nargs="*", help="only programs with one of them in their names")
    parser.add_argument("--seconds", type=float, default=10, help="of each profile")
    parser.add_argument("--show", action="store_true", help="the screens, too")
    arguments = parser.parse_args()
    wrong = 0
    rows = []
    for wanted in PROGRAMS:
        if arguments.words and not any(word in wanted.script for word in arguments.words):
            continue
        try:
            interpreter = default_interpreter()
            if wanted.needs != "numpy":
                interpreter = with_packages(interpreter, wanted.needs)
            screen = Screen(interpreter, wanted, arguments.seconds)
            faults, headline = screen.missing() + screen.too_large(), screen.headline()
            if arguments.show:
                print("\n==== %s\n%s\n---- in a pipe\n%s" % (wanted.script, screen.terminal, screen.piped))
        except (Failure, Skip) as reason:
            faults, headline = [str(reason)], "-"
        wrong += bool(faults)
        rows.append("| %s | %s | %s | %s |" % (wanted.script, wanted.reason, headline, "; ".join(faults) or "yes"))
        print(rows[-1], flush=True)
    print("\n| program | slow for | headline of the verdict | line and remedy on the first screen |\n|---|---|---|---|")
    print("\n".join(rows))
    print("\n%d of %d" % (len(rows) - wrong, len(rows)))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
