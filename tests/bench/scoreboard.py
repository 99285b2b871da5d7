#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The scoreboard of findings: the programs that the rules were made with, and those that they were not.

    tests/bench/scoreboard.py [--set seen|unseen|practice] [--seconds S] [--rounds N] [--only NAME ...] [--engine E] [--json FILE]

Seen programs are those of findings.py. Unseen ones (tests/unseen) are run as
written and with --fixed, clean ones once, each under `pieprofd --pid` at its
default settings, and judged by expected.json. Shares are of the target's CPU
time. A program whose packages no interpreter has is left out, and counted.
Practice programs (tests/practice) are judged as unseen ones are, only when asked for: rules may be tuned on them.

A line names the waste when it is a guilty one, or has one of the other
expressions that expected.json allows (`also`); these are counted apart, and are
neither guilty nor other lines in the area under the curve.
"""
import argparse
import contextlib
import io
import json
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", "e2e"), os.path.join(HERE, "..", "torture")]

from findings import CLEAN_MAX, SHARE_MIN, Seen, area_under_curve, middle, named_interpreters, print_table  # noqa: E402
from frame import write_table  # noqa: E402
from harness import ROOT, examine, give_numpy  # noqa: E402
from unseen import Unseen, within  # noqa: E402

MEASURED = os.path.join(ROOT, "docs", "MEASURED.md")
SETS = ("seen", "unseen")
PLACED = ("unseen", "practice")  # those with an expected.json


def interpreter_at(path):
    """The CPython that is started by this name: a virtual environment's is not the one that it links to."""
    path = os.path.abspath(path)
    interpreter = examine(path, None)
    if interpreter is None:
        raise SystemExit("%s is no CPython that pieprofd supports" % path)
    interpreter.path = path
    if not interpreter.own_numpy:
        give_numpy(interpreter)
    if interpreter.problem:
        raise SystemExit("%s: %s" % (path, interpreter.problem))
    return interpreter


def of(count, values):
    return "%d of %d" % (count, len(values))


def curve(scored, which):
    """An area, or that there is none."""
    if len({line[0] for line in scored}) < 2:
        return None
    return area_under_curve(scored, which)


def areas(scored):
    avoidable, time = curve(scored, 1), curve(scored, 2)
    if avoidable is None:
        return "-"
    return "%.3f, %.3f, %+.3f (%d, %d)" % (
        avoidable, time, avoidable - time, sum(line[0] for line in scored), sum(not line[0] for line in scored))


def summary(records):
    """(what, its value) of the records of one set."""
    bad, fixed, clean = ([record for record in records if record["version"] == version]
                         for version in ("slow", "fixed", "clean"))
    firsts = [record["first"] or {} for record in bad]
    placed = [record for record in bad if record["set"] in PLACED]
    judged = [(record["first"] or {}).get("judged") for record in placed]
    widths = [first["interval"][1] - first["interval"][0] for first in firsts if first.get("interval")]
    known = [record for record in bad if record["saving"] is not None]
    lines = [line for record in bad for line in record["scored"]]
    others = [(False, *line[1:]) for record in fixed + clean for line in record["scored"]]
    yield "profiles: wasteful, fixed, clean", "%d, %d, %d" % (len(bad), len(fixed), len(clean))
    yield "seconds of a profile, its samples, accesses followed: medians", "%.0f, %d, %d" % tuple(
        middle([record[word] for record in records]) for word in ("seconds", "samples", "followed"))
    yield "a guilty line first by avoidable time", of(sum(record["rank"] == 1 for record in bad), bad)
    yield "that, or another that names the waste", of(sum(record["rank_also"] == 1 for record in bad), bad)
    yield "the same by self time", of(sum(record["rank_time"] == 1 for record in bad), bad)
    yield "the first line's expression is the guilty one", of(judged.count("exact"), placed) if placed else "-"
    yield "that, or another that names the waste (columns)", \
        of(judged.count("exact") + judged.count("also"), placed) if placed else "-"
    yield "category right, of the line that names the waste", of(sum(record["category_right"] for record in bad), bad)
    yield "category right, and the line is first", of(sum(
        record["category_right"] and record["rank_also"] == 1 for record in bad), bad)
    yield "real saving within the first line's interval", of(sum(within(record) for record in known), known)
    yield "within that of all lines that name the waste", of(sum(within(record, "all") for record in known), known)
    yield "width of the first line's interval, median", "%.1f%%" % (100 * middle(widths)) if widths else "-"
    for name, versions in (("fixed", fixed), ("clean", clean)):
        for words, which in (("no line with %.0f%% avoidable", "largest"), ("all lines together under %.0f%%", "sum")):
            values = [record[which] for record in versions]
            yield "%s: %s; the most" % (name, words % (100 * CLEAN_MAX)), "%s; %.1f%%" % (
                of(sum(value < CLEAN_MAX for value in values), values), 100 * max(values)) if values else "-"
    yield "area under the curve: avoidable, self time, difference (guilty, other lines from %.0f%%)" % (
        100 * SHARE_MIN), areas(lines)
    yield "the same with the lines of fixed and clean programs", areas(lines + others)


def summaries(boards):
    """One table, a column a set."""
    columns = {name: dict(summary(list(board.records()))) for name, board in boards.items()}
    rows = list(dict.fromkeys(row for column in columns.values() for row in column))
    yield "| | %s |" % " | ".join(columns)
    yield "|---" * (1 + len(columns)) + "|"
    for row in rows:
        yield "| %s | %s |" % (row, " | ".join(column.get(row, "-") for column in columns.values()))
    placed = [board for name, board in boards.items() if name in PLACED]
    skipped = [script for board in placed for script in board.skipped]
    yield ""
    yield "%s programs not run, or not whole: %d%s." % (
        placed[0].name.capitalize() if placed else "Unseen", len(skipped),
        " (%s)" % ", ".join(sorted(skipped)) if skipped else "")
    other = [script for board in placed for script in board.other_versions()]
    if other:
        yield "Ran with other versions than those that the saving was measured with: %s." % ", ".join(other)


def options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=20, help="length of one profile")
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--set", choices=tuple(dict.fromkeys(SETS + PLACED)), help="only these programs")
    parser.add_argument("--only", nargs="+", metavar="NAME", dest="target", default=[],
                        help="only those whose file name has one of these")
    parser.add_argument("--engine", choices=("auto", "ptrace"), default="auto",
                        help="pieprofd's, for unseen and practice programs (default: auto)")
    parser.add_argument("--interpreter", action="append", metavar="NAME",
                        help="as findings.py; unseen programs run on the first of them (default: 3.11.)")
    parser.add_argument("--python", metavar="PATH", help="run all programs on this interpreter instead")
    parser.add_argument("--python-with-packages", metavar="PATH",
                        help="run unseen programs on this one that need packages which the other one lacks")
    parser.add_argument("--keep", metavar="FOLDER", help="keep all profiles there")
    parser.add_argument("--judge", metavar="FOLDER", help="judge the profiles kept there; run nothing")
    parser.add_argument("--json", metavar="FILE", help="write the figures of every profile there")
    parser.add_argument("--save-docs", action="store_true", help="put the tables of this run into docs/MEASURED.md")
    return parser.parse_args()


def main():
    arguments = options()
    if arguments.save_docs and arguments.set == "practice":
        raise SystemExit("practice programs may be tuned on: their figures are not for docs/")
    if arguments.keep:
        os.makedirs(arguments.keep, exist_ok=True)
    chosen = []
    if not arguments.judge:
        chosen = [interpreter_at(arguments.python)] if arguments.python else named_interpreters(arguments.interpreter)
        if not chosen:
            raise SystemExit("no such interpreter")
    boards = {}
    for name in [arguments.set] if arguments.set else SETS:
        if name == "seen":
            board = Seen(arguments, chosen)
        else:
            extra = [interpreter_at(arguments.python_with_packages)] if arguments.python_with_packages else []
            board = Unseen(arguments, chosen[:1] + extra, name)
        boards[name] = board
    records = [record for board in boards.values() for record in board.records()]
    placed = next((board for name, board in boards.items() if name in PLACED), None)
    if arguments.json:
        with open(arguments.json, "w") as file:
            json.dump({"seconds": arguments.seconds, "records": records,
                       "skipped": placed.skipped if placed else {},
                       "versions": placed.versions if placed else {}}, file, indent=1)
    if not records:
        raise SystemExit("nothing to judge")
    boards = {name: board for name, board in boards.items()
              if list(board.records()) or name in PLACED and board.skipped}
    for board in boards.values():
        board.print()
    lines = list(summaries(boards))
    print()
    print("\n".join(lines))
    if arguments.save_docs:
        if "seen" in boards and boards["seen"].judged:
            text = io.StringIO()
            with contextlib.redirect_stdout(text):
                print_table(boards["seen"].judged, boards["seen"].savings)
            lines += text.getvalue().splitlines()
        if "unseen" in boards:
            lines += ["", *boards["unseen"].table()]
        write_table(MEASURED, "scoreboard", "\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
