# SPDX-License-Identifier: Apache-2.0
"""The programs of tests/unseen or tests/practice, profiled and judged by their expected.json; run by scoreboard.py."""
import glob
import json
import os
import shutil
import subprocess
import sys
import time

from findings import NAMED, Line, figures, middle, percent, place_of, ranks
from harness import ROOT, Child, Failure, Target, check, pieprofd, profile, wait_until

# In the folder of kept profiles.
VERSIONS = "versions.json"
# The line of runner.py where every pass but the first is made: imports and first calls are over by then.
PASSES = "one_pass(passes, chosen)"
START_SECONDS = 120


class Truth:
    """What expected.json says about the lines of a program."""

    def __init__(self, entry):
        self.script = entry["file"]
        self.category = entry["category"]
        self.clean = self.category == "clean"
        self.needs = entry["needs"]
        self.measured_with = entry.get("measured_with") or {}
        saving = entry.get("saving_percent")
        self.saving = [saving[word] / 100 for word in ("median", "min", "max")] if saving and not self.clean else None
        self.guilty = [Line(number, "", [self.category]) for number in entry["lines"]]
        self.places = {"exact": [place_of(one) for one in entry["guilty"]],
                       "also": [place_of(one) for one in entry["also"]]}
        self.also = {one["line"] for one in entry["also"]}

    def label(self, entry):
        """guilty, also (another expression that names the same waste), or None."""
        if os.path.basename(entry["file"]) != self.script:
            return None
        if any(line.number == entry["line"] for line in self.guilty):
            return "guilty"
        return "also" if entry["line"] in self.also else None

    def categories(self, entry):
        return [self.category] if self.label(entry) in NAMED else []


def truths(folder, names):
    with open(os.path.join(folder, "expected.json"), encoding="utf-8") as file:
        found = [Truth(entry) for entry in json.load(file)["programs"]]
    return [truth for truth in found if not names or any(name in truth.script for name in names)]


class Program(Target):
    """A program of such a folder, in its passes. It says nothing before its end, so its stack is asked."""

    def __init__(self, interpreter, script, seconds, *options):
        self.process = subprocess.Popen(
            [interpreter.path, script, "--seconds", str(seconds), *options],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            env=dict(environment(interpreter), OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1",
                     PYTHONDONTWRITEBYTECODE="1"))
        self.pid = self.process.pid
        try:
            wait_until(self.makes_passes, START_SECONDS, "the passes of " + script)
        except BaseException:
            Child.__exit__(self)
            raise

    def makes_passes(self):
        if self.process.poll() is not None:
            raise Failure("%s did not start: %s" % (self.pid, self.process.stdout.read()))
        time.sleep(0.2)
        try:
            threads = json.loads(pieprofd("dump", "--pid", self.pid, "--json", "--no-native").stdout)["threads"]
        except (Failure, ValueError):
            return False  # no interpreter in it yet
        return any(frame.get("source") == PASSES for thread in threads for frame in thread["frames"])


def environment(interpreter):
    return dict(os.environ, **interpreter.environment)


def ask(interpreter, code, names):
    run = subprocess.run([interpreter.path, "-c", code, *names], env=environment(interpreter), capture_output=True,
                         text=True, check=True)
    return run.stdout.split()


def lacks(interpreter, needs):
    """What a program needs and is not there."""
    code = "import importlib.util as u, sys; print(*[n for n in sys.argv[1:] if u.find_spec(n) is None])"
    missing = ["cc"] if "cc" in needs and not shutil.which("cc") else []
    return missing + ask(interpreter, code, [need for need in needs if need != "cc"])


def versions(interpreter, needs):
    names = [need for need in needs if need != "cc"]
    code = "import importlib.metadata as m, platform, sys\n"
    code += "print(platform.python_version(), *[m.version(name) for name in sys.argv[1:]])"
    return dict(zip(["python", *names], ask(interpreter, code, names)))


def interpreter_for(truth, interpreters):
    """The first that has what the program needs; else None, and what the last one lacks."""
    missing = []
    for interpreter in interpreters:
        missing = lacks(interpreter, truth.needs)
        if not missing:
            return interpreter, []
    return None, missing


def measured(interpreter, script, fixed, number, arguments):
    with Program(interpreter, script, arguments.seconds + 60, *(["--fixed"] if fixed else [])) as target:
        report, _ = profile(target.pid, "-d", arguments.seconds, "--engine", arguments.engine)
        target.check_undisturbed()
        target.process.kill()
    check(not report["target_exited"], "the target ended")
    if arguments.keep:
        name = "%s+%s+%s+%d.json" % (os.path.basename(script)[:-3], interpreter.name.replace(" ", "_"),
                                     "fixed" if fixed else "slow", number)
        with open(os.path.join(arguments.keep, name), "w") as file:
            json.dump(report, file)
    return report


class Unseen:
    """Profiles of tests/SET, measured or kept, and what they say."""

    def __init__(self, arguments, interpreters, name="unseen"):
        self.name = name
        self.folder = os.path.join(ROOT, "tests", name)
        self.truths = {truth.script: truth for truth in truths(self.folder, arguments.target)}
        self.found = []
        self.skipped = {}
        self.versions = {}
        for folder in (arguments.judge, arguments.keep):
            if folder and os.path.exists(os.path.join(folder, VERSIONS)):
                with open(os.path.join(folder, VERSIONS)) as file:
                    self.versions.update(json.load(file))
        if arguments.judge:
            self.judge_kept(arguments.judge)
        else:
            self.measure(arguments, interpreters)

    def add(self, truth, name, fixed, report):
        version = "clean" if truth.clean else "fixed" if fixed else "slow"
        self.found.append(dict(figures(truth, report), set=self.name, program=truth.script, interpreter=name,
                               version=version, saving=truth.saving, category=truth.category))
        return self.found[-1]

    def judge_kept(self, folder):
        for path in sorted(glob.glob(os.path.join(folder, "*.json"))):
            parts = os.path.basename(path)[:-5].split("+")
            truth = self.truths.get(parts[0] + ".py")
            if truth and len(parts) == 4:
                with open(path) as file:
                    self.add(truth, parts[1].replace("_", " "), parts[2] == "fixed", json.load(file))
        judged = {record["program"] for record in self.found}
        self.skipped = {script: "no profile kept" for script in self.truths if script not in judged}

    def measure(self, arguments, interpreters):
        for truth in self.truths.values():
            interpreter, missing = interpreter_for(truth, interpreters)
            if not interpreter:
                self.skipped[truth.script] = "no " + ", ".join(missing)
                continue
            self.versions[truth.script] = versions(interpreter, truth.needs)
            if arguments.keep:
                with open(os.path.join(arguments.keep, VERSIONS), "w") as file:
                    json.dump(self.versions, file)
            for number in range(arguments.rounds):
                for fixed in (False,) if truth.clean else (False, True):
                    try:
                        report = measured(interpreter, os.path.join(self.folder, truth.script), fixed, number,
                                          arguments)
                    except Failure as failure:
                        self.skipped[truth.script] = "round %d%s: %s" % (
                            number, " fixed" if fixed else "", (str(failure).splitlines() or ["failed"])[-1])
                        print("failed: %s: %s" % (truth.script, self.skipped[truth.script]), flush=True)
                        continue
                    record = self.add(truth, interpreter.name, fixed, report)
                    print("%-22s %-5s %d on %s: first %s; avoidable %s; %d samples, %d followed" % (
                        truth.script, record["version"], number, interpreter.name,
                        record["first"]["place"] if record["first"] else "none", percent(record["sum"]),
                        record["samples"], record["followed"]), flush=True)

    def records(self):
        return self.found

    def other_versions(self):
        """Programs whose saving was measured with other versions than those that ran."""
        return [script for script, ran in self.versions.items()
                if script in self.truths and not self.truths[script].clean and
                {name: self.truths[script].measured_with.get(name) for name in ran} != ran]

    def of(self, script, version):
        return [record for record in self.found if record["program"] == script and record["version"] == version]

    def table(self):
        """The table of programs with waste, and that of clean ones, as lines."""
        yield ("| program | on | rank by avoidable time (with other names of the waste) | by time | "
               "expression of the first line | category: right | first line: avoidable (interval) | real saving | within | fixed: largest line, all |")
        yield "|---" * 10 + "|"
        for script, truth in self.truths.items():
            bad, good = self.of(script, "slow"), self.of(script, "fixed")
            if truth.clean or not bad:
                continue
            firsts = [record["first"] for record in bad if record["first"]]
            shown = sorted({record["shown"]["category"] for record in bad if record["shown"]}) or ["none"]
            intervals = [first["interval"] for first in firsts if first["interval"]]
            yield "| %s | %s | %s (%s) | %s | %s | %s: %s: %d/%d | %s (%s) | %s | %d/%d | %s |" % (
                script[:-3],
                bad[0]["interpreter"].split()[0],
                ranks(record["rank"] for record in bad),
                ranks(record["rank_also"] for record in bad),
                ranks(record["rank_time"] for record in bad),
                " ".join(first["judged"] for first in firsts) or "none",
                truth.category, ", ".join(shown), sum(record["category_right"] for record in bad), len(bad),
                percent(middle([first["avoidable"] for first in firsts])),
                "%s to %s" % tuple(percent(middle([pair[k] for pair in intervals])) for k in (0, 1))
                if intervals else "none",
                "%s (%s to %s)" % tuple(map(percent, truth.saving)) if truth.saving else "?",
                sum(within(record) is True for record in bad), len(bad),
                "%.1f%%, %.1f%%" % tuple(100 * middle([record[word] for record in good]) for word in ("largest", "sum"))
                if good else "?")
        clean = [script for script, truth in self.truths.items() if truth.clean and self.of(script, "clean")]
        if not clean:
            return
        yield ""
        yield "| clean program | on | largest avoidable share of a line | of all lines | most goes to |"
        yield "|---" * 5 + "|"
        for script in clean:
            found = self.of(script, "clean")
            yield "| %s | %s | %s | %s | %s |" % (
                script[:-3], found[0]["interpreter"].split()[0],
                " ".join("%.1f%%" % (100 * record["largest"]) for record in found),
                " ".join("%.1f%%" % (100 * record["sum"]) for record in found),
                " ".join("%s (%s)" % (record["first"]["place"], record["first"]["category"])
                         for record in found if record["first"]) or "no line")

    def print(self):
        print()
        for line in self.table():
            print(line)
        for script, reason in self.skipped.items():
            print("not run, or not whole: %s: %s" % (script, reason))
        for script in self.other_versions():
            print("other versions than its saving was measured with: %s: %s" % (script, self.versions[script]))


def within(record, which="first"):
    """Whether the real saving lies in the interval of the first line, when that names the waste; None: unknown."""
    if record["saving"] is None:
        return None
    if which == "first":
        first = record["first"]
        interval = first["interval"] if first and first["label"] in NAMED else None
    else:
        interval = record["interval"]
    return bool(interval) and interval[0] <= record["saving"][0] <= interval[1]


if __name__ == "__main__":
    sys.exit("run scoreboard.py --set unseen")
