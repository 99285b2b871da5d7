#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Real servers under load, profiled as users would, and whether the reports say what is so.

    tests/servers/run.py [--rounds N] [--seconds S] [--write FILE] [WORD ...]

Each kind of server (kinds.py) is started with its application, in which a comment marks one wasteful line; clients ask
at a fixed rate and check each answer. The daemon attaches N times, for S seconds each. What must hold each time
(judge.py):

- every process is attached to, and the first sample is taken, within a second of the command's start, not counting what
  the daemon waited for a processor meanwhile;
- the marked line is the first one, by its avoidable time, or by its own time where redundancy cannot be watched;
- the CPU time is /proc/PID/stat's within 3%; so is the samples' sum, and within 3 points the processes' shares of it
  and the kernel's, but for two standard deviations of so few samples;
- no client sees an error or another answer, and no process is traced or stopped afterwards.

Packages come from PyPI into the tests' cache; what cannot be had is skipped, with the reason. Needs root, or the rights
of doctor's advice. The exit code is 1 when anything did not hold. --write puts the table between the marks of FILE.
"""
import argparse
import datetime
import os
import platform
import sys
import traceback

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", folder) for folder in ("e2e", "bench", "torture")]

import surroundings  # noqa: E402

surroundings.settle()

from frame import write_table  # noqa: E402
from harness import Failure, Skip  # noqa: E402
from judge import Round  # noqa: E402
from kinds import chosen  # noqa: E402
from switched import machine  # noqa: E402

HEADS = ("server", "samples", "attached (without a processor); first sample by", "planted line: rank by",
         "its share; avoidable", "CPU time; samples' sum, from /proc's", "shares of processes, within",
         "kernel's share; /proc's", "answers; errors")


class Outcome:
    """One kind: the rounds that were played, what clients said, and what did not hold."""

    def __init__(self, kind):
        self.kind = kind
        self.rounds, self.problems = [], []
        self.answers, self.errors, self.skipped = 0, [], None

    def play(self, options):
        try:
            with self.kind.serve() as served:
                for _ in range(options.rounds):
                    played = Round(self.kind.by).take(served, options.seconds)
                    self.rounds.append(played)
                    self.problems += played.problems
                    print("    %s" % played, flush=True)
                    for problem in played.problems:
                        print("    FAILED: %s" % problem, flush=True)
                self.answers, self.errors = served.finish()
            if self.errors or not self.answers:
                self.problems.append("%d of %d answers were errors: %s" % (len(self.errors), self.answers,
                                                                           self.errors[:3]))
                print("    FAILED: %s" % self.problems[-1])
        except Skip as reason:
            self.skipped = str(reason)
            print("    skipped: %s" % reason)
        except Exception as failure:  # whatever it is, the other servers come next
            self.problems.append(str(failure) or repr(failure))
            print("    FAILED: %s" % (failure if isinstance(failure, Failure) else traceback.format_exc()))
        return self

    def row(self):
        """Of all rounds: the worst, or from the least to the most."""
        if not self.rounds:
            return [self.kind.name, "skipped: %s" % self.skipped if self.skipped else "failed"] + [""] * 7
        rounds = self.rounds

        def span(form, values):
            low, high = (form % value for value in (min(values), max(values)))
            return low if low == high else "%s to %s" % (low, high)

        places = [played.rank_by_time if self.kind.by == "time" else played.rank_by_finding for played in rounds]
        return [
            self.kind.name,
            span("%d", [played.report["samples"] for played in rounds]),
            "%.2f s (%.2f s); %.2f s" % max((played.attached, played.kept, played.first_sample) for played in rounds),
            "%s: %s" % (self.kind.by, ", ".join(str(place or "none") for place in places)),
            "%s; %s" % (span("%.0f%%", [100 * played.share for played in rounds]),
                        span("%.0f%%", [100 * played.avoidable for played in rounds])),
            "%+.1f%%; %+.1f%%" % tuple(max((getattr(played, name) for played in rounds), key=abs)
                                       for name in ("cpu_error", "sum_error")),
            "%.1f points of %d" % (100 * max(played.share_error for played in rounds),
                                   max(len(played.spans) for played in rounds)),
            "%s; %s" % (span("%.1f%%", [100 * played.system for played in rounds]),
                        span("%.1f%%", [100 * played.kernel_system for played in rounds])),
            "%d; %d" % (self.answers, len(self.errors)),
        ]


def table_of(outcomes, options):
    versions = {}
    for outcome in outcomes:
        if outcome.rounds:
            versions.update(outcome.kind.installed.versions)
    packages = ", ".join("%s %s" % each for each in sorted(versions.items())) or "no packages"
    lines = ["%s, CPython %s, %s; %d rounds of %g s each." % (
        datetime.datetime.now(datetime.timezone.utc).strftime("%-d %B %Y"), platform.python_version(), packages,
        options.rounds, options.seconds), "", "| %s |" % " | ".join(HEADS), "|" + "---|" * len(HEADS)]
    lines += ["| %s |" % " | ".join(outcome.row()) for outcome in outcomes]
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=15, help="of each profile")
    parser.add_argument("--write", metavar="FILE", help="put the table between its marks there")
    parser.add_argument("words", nargs="*", help="only servers with one of these in their names")
    options = parser.parse_args()
    kinds = chosen(options.words)
    if not kinds:
        parser.error("no server has such a name")
    print(machine(), flush=True)
    outcomes = []
    for kind in kinds:
        print(kind.name, flush=True)
        outcomes.append(Outcome(kind).play(options))
    table = table_of(outcomes, options)
    print(table)
    if options.write:
        write_table(options.write, "servers", table)
    failed = [outcome.kind.name for outcome in outcomes if outcome.problems]
    skipped = [outcome.kind.name for outcome in outcomes if outcome.skipped]
    for what, names in (("failed", failed), ("skipped", skipped)):
        if names:
            print("%s: %s" % (what, "; ".join(names)))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
