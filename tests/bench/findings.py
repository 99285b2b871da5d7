#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Are the paper's inefficient lines found? Judged by avoidable time and by time alone.

    tests/bench/findings.py [--seconds S] [--rounds N] [--interpreter NAME ...] [--keep FOLDER] [TARGET ...]

Runs every tests/targets/listing_NN_*.py, inefficient and fixed, under `pieprofd
--pid` at its default settings, and compares what it says of each line with the
comments of the target (their form: tests/targets/listing_runner.py). The same for
tests/targets/twins_*.py: programs with two lines that are about equally hot, one
of them inefficient, and for bulk_*.py, whose calls are all long. The listings
served to choose the constants of avoidable time, the twins did not: their scores
stand apart. Clean programs, without any line to be found, are run too: what is
called avoidable there is false. --judge FOLDER judges
the profiles again that an earlier run kept, and runs nothing; a run also takes
the savings from there that were measured before.

A line's rank is its place among all lines of the profile, those of libraries
included, by the figure in question; lines with the same figure share the worst
place among them, and a line without any has none.
"""
import argparse
import collections
import glob
import json
import os
import re
import statistics
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "e2e"))

from harness import TARGETS, Failure, Target, find_interpreters, profile  # noqa: E402

SAVING_SECONDS = 3
# Other lines below this share of the time are not worth being told apart from guilty ones.
SHARE_MIN = 0.02
# No line can be judged without that many time samples in the whole profile.
SAMPLES_MIN = 100

# In the folder of kept profiles.
SAVINGS = "savings.json"

# What fitted the model (of bulk_*.py the first), and what did not.
SETS = (("listings", "listing_[0-9]*.py"), ("twins", "twins_*.py"), ("bulk work", "bulk_*.py"))
CLEAN = ("vectorised.py",)
# Of the time of a clean program, at most that much should be called avoidable.
CLEAN_MAX = 0.05

# What truths say of lines where the waste shows; also: another expression that names it (expected.json alone).
NAMED = ("guilty", "also")

Line = collections.namedtuple("Line", "number text categories")


class Truth:
    """What the comments of a target say about its lines."""

    def __init__(self, script):
        self.script = script
        self.path = os.path.join(TARGETS, script)
        self.guilty, self.mended, self.innocent = [], [], []
        self.places = {}  # the comments tell no columns
        with open(self.path) as file:
            self.lines = file.read().splitlines()
        for text in self.lines:
            match = re.match(r"# (guilty|category|mended|innocent): (.+)$", text)
            if not match:
                continue
            word, value = match.groups()
            if word == "category":
                self.guilty[-1] = self.guilty[-1]._replace(categories=value.split(" or "))
            else:
                numbers = self.find(value)
                if not numbers or (len(numbers) > 1 and word != "innocent"):
                    raise Failure("%s: %d lines have %r" % (script, len(numbers), value))
                getattr(self, word).extend(Line(number, value, []) for number in numbers)

    def find(self, marker):
        """The numbers of the lines that have a marker: an innocent one may stand in both versions."""
        return [k for k, text in enumerate(self.lines, 1) if marker in text and not text.startswith("#")]

    def label(self, entry):
        """guilty, mended, innocent, or None for a line that nothing is said about."""
        if os.path.basename(entry["file"]) != self.script:
            return None
        for name in ("guilty", "mended", "innocent"):
            if any(line.number == entry["line"] for line in getattr(self, name)):
                return name
        return None

    def categories(self, entry):
        return [name for line in self.guilty if line.number == entry["line"] for name in line.categories]


def self_ns(entry):
    return entry["python_ns"] + entry["native_ns"] + entry["system_ns"]


def avoidable_ns(entry):
    return entry["avoidable_ns"]


def charged_ns(entry):
    """With the time of thin library functions, which plain profilers leave where it is."""
    return entry.get("charged_ns", self_ns(entry))


def rank(entries, figure, wanted):
    """The best place of the wanted lines; None: none of them has any of the figure."""
    best = max((figure(entry) for entry in wanted), default=0)
    return sum(figure(entry) >= best for entry in entries) - sum(
        figure(entry) == best for entry in wanted
    ) + 1 if best > 0 else None


def interval_ns(entry):
    """The daemon's own interval of a line's avoidable time, when it gives one."""
    low, high = entry.get("avoidable_low_ns"), entry.get("avoidable_high_ns")
    return (low, high) if low is not None and high is not None else None


def counts(entry, what):
    return entry["loads"][what] + entry["stores"][what]


def place_of(expression):
    """Line, column, last line and column behind: of expected.json as of a report."""
    line = expression["line"]
    return line, expression["column"], expression.get("end_line") or line, expression["end_column"]


def judge_expression(truth, entry):
    """exact, also, other, or none; only columns tell, so that without any (before Python 3.11) it is other."""
    if not entry or not entry.get("expression"):
        return "none"
    place = place_of(entry["expression"])
    if truth.label(entry) in NAMED:
        for word, places in truth.places.items():
            if place in places:
                return word
    return "other"


def scored_lines(truth, entries, total):
    """
    Guilty or not, avoidable share, time share: of the guilty lines, whether the profile has them or not, and of the
    other lines of the file that take some time. A line that is only another name of the waste is neither.
    """
    lines = {}
    for entry in entries:
        if os.path.basename(entry["file"]) == truth.script:
            line = lines.setdefault(entry["line"], [truth.label(entry), 0, 0])
            line[1] += avoidable_ns(entry) / total
            line[2] += self_ns(entry) / total
    for line in truth.guilty:
        lines.setdefault(line.number, ["guilty", 0, 0])
    return [(label == "guilty", avoidable, time) for label, avoidable, time in lines.values()
            if label == "guilty" or (label != "also" and time >= SHARE_MIN)]


def together(intervals, total):
    """The sum of intervals, as shares; None where one is not known."""
    return [sum(pair[k] for pair in intervals) / total for k in (0, 1)] if intervals and None not in intervals else None


def figures(truth, report):
    """What one profile says, as plain values: shares are of the target's CPU time."""
    entries = report["lines"]
    total = max(1, sum(report["time_ns"].values()))
    named = [entry for entry in entries if truth.label(entry) in NAMED]
    first = max(entries, key=avoidable_ns, default=None)
    if first and not avoidable_ns(first):
        first = None
    shown = max(named, key=avoidable_ns, default=None)

    def described(entry):
        return entry and {
            "place": "%s:%d" % (os.path.basename(entry["file"]), entry["line"]),
            "label": truth.label(entry),
            "category": entry["category"],
            "avoidable": avoidable_ns(entry) / total,
            "interval": [value / total for value in interval_ns(entry)] if interval_ns(entry) else None,
            "expression": entry.get("expression"),
            "judged": judge_expression(truth, entry),
        }

    intervals = [interval_ns(entry) for entry in named]
    return {
        "seconds": report["duration_ns"] / 1e9,
        "samples": report["samples"],
        "followed": report["loads"]["sampled"] + report["stores"]["sampled"],
        "overhead": report["overhead"],
        "rank": rank(entries, avoidable_ns, [entry for entry in named if truth.label(entry) == "guilty"]),
        "rank_also": rank(entries, avoidable_ns, named),
        "rank_time": rank(entries, self_ns, named),
        "first": described(first),
        "shown": described(shown),
        "category_right": bool(shown) and avoidable_ns(shown) > 0 and shown["category"] in truth.categories(shown),
        "interval": together(intervals, total),
        "largest": max((avoidable_ns(entry) for entry in entries), default=0) / total,
        "sum": sum(avoidable_ns(entry) for entry in entries) / total,
        "scored": scored_lines(truth, entries, total),
    }


class Verdict:
    """What one profile of one version of a target says."""

    def __init__(self, truth, report):
        entries = report["lines"]
        guilty = [entry for entry in entries if truth.label(entry) == "guilty"]
        innocent = [entry for entry in entries if truth.label(entry) == "innocent"]
        total = max(1, sum(report["time_ns"].values()))

        def share(lines, figure):
            return sum(figure(entry) for entry in lines) / total

        self.figures = figures(truth, report)
        self.total_ns = total
        self.samples = report["samples"]
        self.overhead = report["overhead"]
        self.rank_avoidable = rank(entries, avoidable_ns, guilty)
        self.rank_time = rank(entries, self_ns, guilty)
        self.guilty_time = share(guilty, self_ns)
        self.guilty_avoidable = share(guilty, avoidable_ns)
        self.avoidable = share(entries, avoidable_ns)
        self.mended_avoidable = share([e for e in entries if truth.label(e) == "mended"], avoidable_ns)
        self.innocent_time = share(innocent, self_ns)
        self.innocent_avoidable = share(innocent, avoidable_ns)
        self.followed = report["loads"]["sampled"] + report["stores"]["sampled"]
        self.guilty_followed = sum(counts(entry, "sampled") for entry in guilty)
        self.redundant = sum(counts(entry, "redundant") + counts(entry, "approximate") for entry in guilty)
        self.intervals = [interval_ns(entry) for entry in guilty]
        self.interval = None
        if guilty and None not in self.intervals:
            self.interval = tuple(sum(pair[k] for pair in self.intervals) / total for k in (0, 1))
        # The category that a reader sees first: that of the guilty line with most avoidable time.
        first = max(guilty, key=avoidable_ns, default=None)
        self.category = first["category"] if first else "not sampled"
        self.category_right = bool(first) and first["category"] in truth.categories(first)
        self.categories = [
            (entry["category"] in truth.categories(entry), entry["category"], entry["line"])
            for entry in guilty
            if max(self_ns(entry), charged_ns(entry)) >= SHARE_MIN * total
        ]
        self.rank_charged = rank(entries, charged_ns, guilty)
        self.scored = [
            (truth.label(entry) == "guilty", avoidable_ns(entry) / total, self_ns(entry) / total,
             charged_ns(entry) / total)
            for entry in entries
            if max(self_ns(entry), charged_ns(entry)) >= SHARE_MIN * total
        ]
        self.first_lines = [
            "%s:%d" % (os.path.basename(entry["file"]), entry["line"])
            for entry in sorted(entries, key=avoidable_ns, reverse=True)[:3]
            if avoidable_ns(entry)
        ]


def area_under_curve(scored, which):
    """Probability that a guilty line scores above another one; ties count a half."""
    guilty = [entry[which] for entry in scored if entry[0]]
    others = [entry[which] for entry in scored if not entry[0]]
    if not guilty or not others:
        return float("nan")
    wins = sum((a > b) + (a == b) / 2 for a in guilty for b in others)
    return wins / (len(guilty) * len(others))


def facts_of(line):
    return dict(word.split("=") for word in line.split() if "=" in word)


def measure_saving(interpreter, script, seconds):
    """Share of the CPU time of a pass that the fixed version saves, without a profiler."""
    seconds = min(seconds, SAVING_SECONDS)
    speeds = {False: [], True: []}
    for fixed in (False, True, True, False):
        arguments = ["--seconds", seconds] + (["--fixed"] if fixed else [])
        with Target(interpreter, script, *arguments) as target:
            facts = facts_of(target.finish())
        speeds[fixed].append(float(facts["cpu_seconds"]) / int(facts["passes"]))
    return 1 - statistics.mean(speeds[True]) / statistics.mean(speeds[False])


def run(interpreter, truth, fixed, arguments, name):
    options = ["--fixed"] if fixed else []
    with Target(interpreter, truth.script, "--seconds", arguments.seconds + 4, *options) as target:
        recording = []
        if arguments.keep:
            recording = ["-o", os.path.join(arguments.keep, name + ".pieprof")]
        report, text = profile(target.pid, "-d", arguments.seconds, "--pairs", 20, "--lines", 20, *recording)
        target.check_undisturbed()
        target.process.kill()
    if arguments.keep:
        with open(os.path.join(arguments.keep, name + ".json"), "w") as file:
            json.dump(report, file)
        with open(os.path.join(arguments.keep, name + ".txt"), "w") as file:
            file.write(text)
    return report


def percent(value):
    return "%.0f%%" % (100 * value)


def ranks(values):
    return " ".join("-" if value is None else str(value) for value in values)


def middle(values):
    return statistics.median(values) if values else 0


def print_table(judged, savings):
    print()
    print(
        "| listing | interpreter | rank by avoidable time (rounds) | by time alone | category: right | "
        "guilty: time | avoidable (interval) | once mended | real saving | innocent: time | avoidable | "
        "all avoidable: before | after the fix | followed: guilty/all | overhead |"
    )
    print("|---" * 15 + "|")
    for key, versions in judged.items():
        bad, good = versions[False], versions[True]
        after = middle([v.mended_avoidable for v in good])
        if key in savings:
            after *= 1 - savings[key]  # as a share of the time that the inefficient version takes
        interval = "rounds %s to %s" % (
            percent(min(v.guilty_avoidable for v in bad)), percent(max(v.guilty_avoidable for v in bad))
        )
        own = [v.interval for v in bad if v.interval]
        if own:
            interval = "%s to %s" % (percent(middle([o[0] for o in own])), percent(middle([o[1] for o in own])))
        names = collections.Counter(v.category for v in bad).most_common()
        print(
            "| %s | %s | %s | %s | %s: %d/%d | %s | %s (%s) | %s | %s | %s | %s | %s | %s | %d/%d | %.2f%% |"
            % (
                key[0][:-3].replace("listing_", ""),
                key[1],
                ranks(v.rank_avoidable for v in bad),
                ranks(v.rank_time for v in bad),
                ", ".join(name for name, _ in names),
                sum(v.category_right for v in bad),
                len(bad),
                percent(middle([v.guilty_time for v in bad])),
                percent(middle([v.guilty_avoidable for v in bad])),
                interval,
                percent(after),
                percent(savings[key]) if key in savings else "?",
                percent(middle([v.innocent_time for v in bad])),
                percent(middle([v.innocent_avoidable for v in bad])),
                percent(middle([v.avoidable for v in bad])),
                percent(middle([v.avoidable for v in good])),
                middle([v.guilty_followed for v in bad]),
                middle([v.followed for v in bad]),
                100 * middle([v.overhead for v in bad + good]),
            )
        )


def print_scores(name, judged, savings):
    bad = [v for versions in judged.values() for v in versions[False]]
    good = [v for versions in judged.values() for v in versions[True]]
    scored = [entry for v in bad for entry in v.scored]
    with_fixed = scored + [(False,) + entry[1:] for v in good for entry in v.scored]
    print()
    print("| %s: over %d profiles | by avoidable time | by time alone | by time with library wrappers |" % (name, len(bad)))
    print("|---|---|---|---|")
    rows = (
        ("a guilty line is first", lambda r: r == 1),
        ("first or second", lambda r: r is not None and r <= 2),
        ("among the first three", lambda r: r is not None and r <= 3),
    )
    for name, holds in rows:
        print(
            "| %s | %s | %s | %s |"
            % (
                name,
                percent(statistics.mean(holds(v.rank_avoidable) for v in bad)),
                percent(statistics.mean(holds(v.rank_time) for v in bad)),
                percent(statistics.mean(holds(v.rank_charged) for v in bad)),
            )
        )
    print(
        "| mean reciprocal rank | %.2f | %.2f | %.2f |"
        % tuple(
            statistics.mean(1 / r if r else 0 for r in (getattr(v, name) for v in bad))
            for name in ("rank_avoidable", "rank_time", "rank_charged")
        )
    )
    sets = (("guilty lines and others", scored), ("the same and the fixed versions' lines", with_fixed))
    for name, lines in sets:
        print(
            "| area under the curve, %s (%d and %d) | %.3f | %.3f | %.3f |"
            % (
                name,
                sum(entry[0] for entry in lines),
                sum(not entry[0] for entry in lines),
                area_under_curve(lines, 1),
                area_under_curve(lines, 2),
                area_under_curve(lines, 3),
            )
        )
    within = [
        low <= savings[key] <= high
        for key, versions in judged.items()
        if key in savings
        for low, high in (v.interval for v in versions[False] if v.interval)
    ]
    halved = [
        middle([v.mended_avoidable for v in versions[True]]) * (1 - savings.get(key, 0))
        <= middle([v.guilty_avoidable for v in versions[False]]) / 2
        for key, versions in judged.items()
    ]
    lines = [entry for v in bad for entry in v.categories]
    print()
    print("category right: %d of %d profiles; %d of %d guilty lines with at least %s of the time" % (
        sum(v.category_right for v in bad), len(bad), sum(entry[0] for entry in lines), len(lines),
        percent(SHARE_MIN)))
    print("avoidable time of the guilty lines at least halved by the fix: %d of %d" % (sum(halved), len(halved)))
    print("fixed versions with less than %s called avoidable: %d of %d" % (
        percent(CLEAN_MAX), sum(v.avoidable < CLEAN_MAX for v in good), len(good)))
    print("the real saving lies within the interval of avoidable time: %d of %d" % (sum(within), len(within)))


def print_clean(clean):
    for (script, name), verdicts in clean.items():
        print("clean: %s on %s: %s called avoidable; most goes to %s" % (
            script, name, " ".join("%.1f%%" % (100 * v.avoidable) for v in verdicts),
            ", ".join(v.first_lines[0] for v in verdicts if v.first_lines) or "no line"))


def print_misses(key, number, verdict):
    """One line for a profile whose first line by avoidable time is not a guilty one."""
    if verdict.rank_avoidable != 1:
        print("miss: %s %s round %d: first by avoidable time: %s; guilty: %d followed, %d redundant" % (
            key[0], key[1], number, " ".join(verdict.first_lines) or "none", verdict.guilty_followed,
            verdict.redundant))


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seconds", type=float, default=20, help="length of one profile")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument(
        "--interpreter", action="append", metavar="NAME",
        help="only those whose name has this; may be given again (default: 3.11.)"
    )
    parser.add_argument("--keep", metavar="FOLDER", help="keep all profiles there")
    parser.add_argument("--judge", metavar="FOLDER", help="judge the profiles kept there; run nothing")
    parser.add_argument("target", nargs="*", help="only those whose file name has one of these")
    arguments = parser.parse_args()
    seen = Seen(arguments)
    if not seen.judged and not seen.clean:
        raise SystemExit("nothing to judge")
    seen.print()


class Seen:
    """Profiles of tests/targets, measured or kept, and what they say."""

    def __init__(self, arguments, interpreters=None):
        """interpreters: the default: those that the arguments name."""
        self.judged, self.savings, self.clean = {}, {}, {}

        def wanted(pattern):
            files = sorted(os.path.basename(path) for path in glob.glob(os.path.join(TARGETS, pattern)))
            return [file for file in files if not arguments.target or any(word in file for word in arguments.target)]

        self.sets = [(name, wanted(pattern)) for name, pattern in SETS]
        scripts = [script for _, found in self.sets for script in found]
        clean_scripts = [script for pattern in CLEAN for script in wanted(pattern)]
        if arguments.keep:
            os.makedirs(arguments.keep, exist_ok=True)
            self.savings.update(kept_savings(arguments.keep))
        if arguments.judge:
            self.savings.update(kept_savings(arguments.judge))
            judge_kept(arguments.judge, scripts, clean_scripts, self.judged, self.clean)
            return
        if not scripts and not clean_scripts:
            return
        for interpreter in interpreters or named_interpreters(arguments.interpreter):
            for script in scripts:
                measure(interpreter, Truth(script), arguments, self.judged, self.savings)
            for script in clean_scripts:
                measure_clean(interpreter, Truth(script), arguments, self.clean)

    def print(self):
        for key, versions in self.judged.items():
            for number, verdict in enumerate(versions[False]):
                print_misses(key, number, verdict)
        if self.judged:
            print_table(self.judged, self.savings)
        for name, found in self.sets:
            of_set = {key: value for key, value in self.judged.items() if key[0] in found}
            if of_set:
                print_scores(name, of_set, self.savings)
        print()
        print_clean(self.clean)

    def records(self):
        """The figures of each profile, with whose they are."""
        for (script, name), versions in self.judged.items():
            saving = self.savings.get((script, name))
            for fixed, verdicts in versions.items():
                for verdict in verdicts:
                    yield dict(verdict.figures, set="seen", program=script, interpreter=name,
                               version="fixed" if fixed else "slow", saving=None if saving is None else [saving] * 3)
        for (script, name), verdicts in self.clean.items():
            for verdict in verdicts:
                yield dict(verdict.figures, set="seen", program=script, interpreter=name, version="clean", saving=None)


def named_interpreters(names):
    return [interpreter for interpreter in find_interpreters()
            if any(name in interpreter.name for name in names or ["3.11."])]


def measure(interpreter, truth, arguments, judged, savings):
    key = truth.script, interpreter.name
    try:
        if key not in savings:
            savings[key] = measure_saving(interpreter, truth.script, arguments.seconds)
    except Failure as failure:
        print("skip %s on %s: %s" % (truth.script, interpreter.name, str(failure).splitlines()[-1]))
        return
    if arguments.keep:
        with open(os.path.join(arguments.keep, SAVINGS), "w") as file:
            json.dump([[*key, value] for key, value in savings.items()], file)
    judged[key] = {False: [], True: []}
    for number in range(arguments.rounds):
        for fixed in (False, True):
            name = "%s+%s+%s+%d" % (truth.script[:-3], interpreter.name.replace(" ", "_"),
                                    "fixed" if fixed else "slow", number)
            began = time.monotonic()
            report = run(interpreter, truth, fixed, arguments, name)
            verdict = Verdict(truth, report)
            judged[key][fixed].append(verdict)
            print("%-60s %4.0f s: rank %s by avoidable time, %s by time; avoidable %s; %d followed%s" % (
                name, time.monotonic() - began, verdict.rank_avoidable, verdict.rank_time,
                percent(verdict.avoidable), verdict.followed,
                "" if verdict.samples >= SAMPLES_MIN else "; only %d samples" % verdict.samples), flush=True)


def measure_clean(interpreter, truth, arguments, clean):
    try:
        clean[truth.script, interpreter.name] = [
            Verdict(truth, run(interpreter, truth, False, arguments, "%s+%s+slow+%d" % (
                truth.script[:-3], interpreter.name.replace(" ", "_"), number)))
            for number in range(arguments.rounds)
        ]
    except Failure as failure:
        print("skip %s on %s: %s" % (truth.script, interpreter.name, str(failure).splitlines()[-1]))


def judge_kept(folder, scripts, clean_scripts, judged, clean):
    for path in sorted(glob.glob(os.path.join(folder, "*.json"))):
        parts = os.path.basename(path)[:-5].split("+")
        script = parts[0] + ".py"
        if len(parts) != 4 or script not in scripts + clean_scripts:
            continue
        key = script, parts[1].replace("_", " ")
        with open(path) as file:
            verdict = Verdict(Truth(key[0]), json.load(file))
        if script in clean_scripts:
            clean.setdefault(key, []).append(verdict)
        else:
            judged.setdefault(key, {False: [], True: []})[parts[2] == "fixed"].append(verdict)


def kept_savings(folder):
    try:
        with open(os.path.join(folder, SAVINGS)) as file:
            return {(script, name): value for script, name, value in json.load(file)}
    except OSError:
        return {}


if __name__ == "__main__":
    main()
