#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Whether `pieprofd heap -d` says what keeps growing: each program of tests/leaks/, once, judged by its expected.json.

    tests/bench/leaks.py [--python PYTHON ...] [--seconds 20] [--allocations] [--keep FOLDER] [WORD ...]
    tests/bench/leaks.py --judge FOLDER          the reports of an earlier --keep

A holder is named when all words of it stand in path and type of one of the first three entries of heap.growing, or of
heap.holders by bytes_per_s; where no variable holds the memory, when the verdict is of the right kind. A line is named when one of
those of the first three entries of heap.growing, of those of heap.made, or of the first three of heap.filled or heap.stays, is in
`lines`. A clean program is accused by the verdict "leak". Nothing
here is asserted: the exit code is 1 only when there was no report at all to judge.
"""
import argparse
import concurrent.futures
import json
import os
import re
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, "e2e"))

from harness import PIEPROFD, ROOT, Child, Failure, find_packages, probe  # noqa: E402

FOLDER = os.path.join(ROOT, "tests", "leaks")
FIRST = 3  # entries of each list that a reader is thought to look at
WARM_UP = 3.0
START_SECONDS = 120
# Verdicts of JSON, in the words of expected.json.
VERDICTS = {"cache_warming": "cache warming", "garbage": "garbage waiting"}
# What tests/tools/packages-for knows how to get, the one that brings another along first.
FETCHED = ("pandas", "numpy", "django")


# ---- judging


def texts(value):
    """All strings in a piece of JSON."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for member in value.values():
            yield from texts(member)
    elif isinstance(value, list):
        for member in value:
            yield from texts(member)


def places(entry):
    """(file's name, line) of each of an entry's lines, be they objects or "file:line (function)"."""
    for line in entry.get("lines") or []:
        if isinstance(line, dict) and isinstance(line.get("line"), int):
            yield os.path.basename(str(line.get("file"))), line["line"]
            continue
        for text in texts(line):
            found = re.search(r"([^\s:(]+):(\d+)", text)
            if found:
                yield os.path.basename(found.group(1)), int(found.group(2))


def said_of(entry):
    """What is read as the name of the holder: path and type, not the functions of the lines, which may have its name."""
    return "\n".join(list(texts(entry.get("path"))) + list(texts(entry.get("type"))))


def has(text, words):
    return all(re.search(r"(?<!\w)%s(?!\w)" % re.escape(word), text) for word in words)


def first_entries(heap):
    growing = heap.get("growing") or []
    holders = sorted(heap.get("holders") or [], key=lambda holder: -(holder.get("bytes_per_s") or 0))
    # One that grows by nothing is no answer to what grows.
    return growing[:FIRST], [holder for holder in holders[:FIRST] if (holder.get("bytes_per_s") or 0) > 0]


def path_text(entry):
    path = entry.get("path")
    return path if isinstance(path, str) else "".join(
        step.get("step") or "" if isinstance(step, dict) else str(step) for step in path or [])


def judge(program, report):
    """What a report says of a program, and whether that is right."""
    heap = report["heap"]
    growing, holders = first_entries(heap)
    verdict = (heap.get("verdict") or {}).get("kind")
    verdict = VERDICTS.get(verdict, verdict)
    verdicts = [program["verdict"]] + program.get("verdict_also", [])
    wanted = [words for words in [program["holder_words"]] + program.get("holder_words_also", []) if words]
    filled = sorted((heap.get("filled") or {}).get("lines") or [], key=lambda line: -line["grown"])
    stays = [{"lines": lines[:FIRST]} for lines in (filled, (heap.get("stays") or {}).get("lines") or [])]
    lines = [place for entry in growing + (heap.get("made") or [])[:FIRST] + stays for place in places(entry)]
    first = (growing or holders or [{}])[0]
    return {
        "file": program["file"],
        "leak": program["kind"] == "leak",
        "category": program["category"],
        "named": any(has(said_of(entry), words) for words in wanted for entry in growing + holders)
        if wanted else verdict in verdicts,
        "line": any(file == program["file"] and line in program["lines"] for file, line in lines),
        "verdict": verdict,
        "verdict_right": verdict in verdicts,
        "accused": verdict == "leak",
        "first": path_text(first) or first.get("type") or "nothing",
        "first_line": "%s:%d" % lines[0] if lines else "none",
    }


# ---- measuring


class Program(Child):
    """A program of tests/leaks/, past its `ready`."""

    def __init__(self, interpreter, program, seconds):
        self.process = subprocess.Popen(
            [interpreter.path, os.path.join(FOLDER, program["file"]), "--seconds", str(seconds)],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            env=dict(os.environ, PYTHONDONTWRITEBYTECODE="1", OPENBLAS_NUM_THREADS="1", **interpreter.environment))
        self.pid = self.process.pid
        late = threading.Timer(START_SECONDS, self.process.kill)
        late.start()
        try:
            first = self.process.stdout.readline()
        finally:
            late.cancel()
        if first != "ready\n":
            with self:
                self.process.kill()
                raise Failure("it did not start: %s" % (first + self.process.stdout.read())[-200:])


class Interpreter:
    def __init__(self, path):
        words = probe(path, {})
        if words is None:
            raise Failure("%s is no CPython with a GIL" % path)
        self.path = path
        self.version = ".".join(words[4:])
        self.environment = {}

    def lacks(self, needs):
        code = "import importlib.util as u, sys; print(*[n for n in sys.argv[1:] if u.find_spec(n) is None])"
        return subprocess.run([self.path, "-c", code, *needs], env=dict(os.environ, **self.environment), cwd="/",
                              stdout=subprocess.PIPE, text=True, check=True).stdout.split()


def interpreter_for(program, interpreters):
    """The first that has what it needs, or for which that can be got; None, and why."""
    for interpreter in interpreters:
        if not interpreter.lacks(program["needs"]):
            return interpreter, None
    reason = "no interpreter"
    for interpreter in interpreters:
        given = Interpreter(interpreter.path)
        for what in FETCHED:
            if what in given.lacks(program["needs"]):
                folder, problem = find_packages(given, what)
                reason = problem or reason
                if folder:
                    known = given.environment.get("PYTHONPATH")
                    given.environment["PYTHONPATH"] = known + ":" + folder if known else folder
        missing = given.lacks(program["needs"])
        if not missing:
            return given, None
        if not set(missing) & set(FETCHED):
            reason = "no " + ", ".join(missing)
    return None, reason


def measured(interpreter, program, arguments):
    """The JSON report of one look of so many seconds."""
    with Program(interpreter, program, WARM_UP + arguments.seconds + 60) as target, \
            tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "heap.json")
        time.sleep(WARM_UP)
        run = subprocess.run(
            [PIEPROFD, "heap", "--pid", str(target.pid), "-d", "%g" % arguments.seconds, "--format", "json", "-o", path] +
            ["--allocations"] * arguments.allocations,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False,
            timeout=arguments.seconds + 120)
        code = target.process.poll()
        if code is not None:
            raise Failure("the program ended meanwhile with %d" % code)
        if run.returncode:
            raise Failure("exit code %d: %s" % (run.returncode, (run.stderr.strip().splitlines() or ["no words"])[0]))
        with open(path) as file:
            return json.load(file)


def one(program, interpreters, arguments):
    """(what a report says, None), or (None, why there is none)."""
    kept = os.path.join(arguments.judge or arguments.keep or "", program["file"][:-3] + ".json")
    try:
        if arguments.judge:
            if not os.path.exists(kept):
                return None, "no report kept"
            with open(kept) as file:
                return judge(program, json.load(file)), None
        interpreter, problem = interpreter_for(program, interpreters)
        if problem:
            return None, problem
        report = measured(interpreter, program, arguments)
        if arguments.keep:
            with open(kept, "w") as file:
                json.dump(report, file)
        return dict(judge(program, report), on=interpreter.version), None
    except (Failure, OSError, KeyError, TypeError, AttributeError, ValueError, subprocess.SubprocessError) as reason:
        return None, "%s: %s" % (type(reason).__name__, (str(reason).splitlines() or [""])[0])


# ---- telling


def yes(condition):
    return "yes" if condition else "**no**"


def table(found):
    yield "| leak | on | kind | holder named | line named | verdict | first of what grows | at |"
    yield "|---" * 8 + "|"
    for entry in found:
        if entry["leak"]:
            yield "| %s | %s | %s | %s | %s | %s | %s | %s |" % (
                entry["file"][:-3], entry.get("on", "?"), entry["category"], yes(entry["named"]), yes(entry["line"]),
                entry["verdict"] if entry["verdict_right"] else "**%s**" % entry["verdict"],
                entry["first"].replace("|", "\\|"), entry["first_line"])
    yield ""
    yield "| clean program | on | kind | accused | verdict | first of what grows |"
    yield "|---" * 6 + "|"
    for entry in found:
        if not entry["leak"]:
            yield "| %s | %s | %s | %s | %s | %s |" % (
                entry["file"][:-3], entry.get("on", "?"), entry["category"], "**yes**" if entry["accused"] else "no",
                entry["verdict"] if entry["verdict_right"] else "**%s**" % entry["verdict"],
                entry["first"].replace("|", "\\|"))


def total(found, missing):
    leaks = [entry for entry in found if entry["leak"]]
    clean = [entry for entry in found if not entry["leak"]]
    return "holder named in %d of %d, line in %d of %d, clean accused %d of %d; verdict right in %d of %d; not run: %d" % (
        sum(entry["named"] for entry in leaks), len(leaks), sum(entry["line"] for entry in leaks), len(leaks),
        sum(entry["accused"] for entry in clean), len(clean), sum(entry["verdict_right"] for entry in found), len(found),
        len(missing))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("words", nargs="*", help="only programs with one of them in their names")
    parser.add_argument("--python", action="append", metavar="PYTHON",
                        help="an interpreter, /usr/bin/python3 by default; of several, the first that has the packages")
    parser.add_argument("--seconds", type=float, default=20, help="of each look")
    parser.add_argument("--allocations", action="store_true", help="with probes at malloc()")
    parser.add_argument("--jobs", type=int, default=1, help="programs at the same time")
    parser.add_argument("--keep", metavar="FOLDER", help="keep the reports there")
    parser.add_argument("--judge", metavar="FOLDER", help="judge kept reports, and measure nothing")
    arguments = parser.parse_args()
    if arguments.keep:
        os.makedirs(arguments.keep, exist_ok=True)
    with open(os.path.join(FOLDER, "expected.json")) as file:
        programs = [program for program in json.load(file)["programs"]
                    if not arguments.words or any(word in program["file"] for word in arguments.words)]
    try:
        interpreters = [] if arguments.judge else list(map(Interpreter, arguments.python or ["/usr/bin/python3"]))
    except Failure as failure:
        parser.error(str(failure))
    found, missing = [], {}
    with concurrent.futures.ThreadPoolExecutor(max(1, arguments.jobs)) as pool:
        for program, (said, reason) in zip(programs, pool.map(
                lambda program: one(program, interpreters, arguments), programs)):
            if said:
                found.append(said)
            else:
                missing[program["file"]] = reason
            print("%-18s %s" % (program["file"], "%(verdict)s, %(first)s, %(first_line)s" % said if said else
                                "not run: " + reason), flush=True)
    print()
    for line in table(found):
        print(line)
    print()
    for file, reason in missing.items():
        print("not run: %s: %s" % (file, reason))
    print(total(found, missing))
    return 0 if found else 1


if __name__ == "__main__":
    sys.exit(main())
