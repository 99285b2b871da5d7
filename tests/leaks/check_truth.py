#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Whether the programs of this folder do what expected.json says of them, seen from inside, without a profiler.

    tests/leaks/check_truth.py [--python PYTHON] [--seconds 12] [--jobs 4] [WORD ...]
    tests/leaks/check_truth.py --places          only: are the lines where expected.json has them?

Of a leak: the count of what is kept (`probe`) and the resident memory grow; and in a second run, tracemalloc sees most of
the growth at one of `lines`, or, where the memory is C's, sees less than half of it. Of a clean program: the count stays within
`bound`, and from `settled_after` seconds on the resident memory grows no more. Exits with 1 when something does not hold.
"""
import argparse
import concurrent.futures
import ctypes
import gc
import json
import os
import re
import runpy
import subprocess
import sys
import tempfile
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
PAGE = os.sysconf("SC_PAGE_SIZE")
MIB = 1 << 20

# What a leak grows by in a second, in MiB, when it keeps its pace.
LEAST, MOST = 0.5, 5.0
# Seconds of each of two windows in which a clean program's least resident memory is compared, and by how much it may
# differ: a batch's period and more, and an arena or two. Seconds between samples: of a batch the end must be seen.
WINDOW, SLACK = 6.0, 3 * MIB
CLEAN_INTERVAL = 0.2
# After which samples tracemalloc is asked, of which the first is 1.
SNAPSHOTS = (3, 9)
# It ends by itself after the last of them; on a busy machine this is long.
TRACED_SECONDS = 120
# The share of traced growth that `lines` must have.
SHARE = 0.4


# ---- inside of a program


class MallocInfo(ctypes.Structure):
    """struct mallinfo2 of glibc 2.33 and later."""

    _fields_ = [(name, ctypes.c_size_t) for name in (
        "arena", "ordblks", "smblks", "hblks", "hblkhd", "usmblks", "fsmblks", "uordblks", "fordblks", "keepcost")]


def malloc_bytes():
    function = ctypes.CDLL(None).mallinfo2
    function.restype = MallocInfo
    info = function()
    return info.uordblks + info.hblkhd


def count(name):
    return sum(type(thing).__name__ == name for thing in gc.get_objects())


def one(name, found={}):
    """The only object of a class."""
    if name not in found:
        found[name] = next(thing for thing in gc.get_objects() if type(thing).__name__ == name)
    return found[name]


def dicts_with(key):
    return [thing for thing in gc.get_objects() if type(thing) is dict and isinstance(thing.get(key), list)]


def local(function, name):
    """A local variable of a function that the main thread is in."""
    frame = sys._current_frames()[threading.main_thread().ident]
    while frame.f_code.co_name != function:
        frame = frame.f_back
    return frame.f_locals[name]


def cell(function, name):
    return function.__closure__[function.__code__.co_freevars.index(name)].cell_contents


def chained(thing, following):
    length = 0
    while thing is not None:
        thing = getattr(thing, following)
        length += 1
    return length


HELPERS = (malloc_bytes, count, one, dicts_with, local, cell, chained)


def resident():
    with open("/proc/self/statm") as statm:
        return int(statm.read().split()[1]) * PAGE


class Sampler(threading.Thread):
    """At intervals what is kept and what is resident; with `script`, what tracemalloc says of its lines, and the end."""

    def __init__(self, probe, interval, script, result):
        super().__init__(daemon=True)
        self.probe = probe
        self.interval = interval
        self.script = script
        self.result = result
        self.samples = []
        self.snapshots = []
        self.failed = None
        self.done = threading.Event()

    def run(self):
        start = time.monotonic()
        while not self.done.wait(self.interval):
            try:
                names = dict(sys.modules["__main__"].__dict__, **{helper.__name__: helper for helper in HELPERS})
                kept = eval(self.probe, names)
            except Exception as error:  # it is being imported yet
                self.failed = repr(error)
                continue
            self.samples.append((time.monotonic() - start, kept, resident()))
            if self.script and len(self.samples) in SNAPSHOTS:
                self.snapshots.append(self.snapshot())
                if len(self.snapshots) == len(SNAPSHOTS):
                    self.write()
                    os._exit(0)  # that was what the run is for

    def snapshot(self):
        import tracemalloc
        return tracemalloc.take_snapshot()

    def write(self):
        with open(self.result, "w") as file:
            json.dump({"samples": self.samples, "lines": self.lines(), "failed": self.failed}, file)

    def lines(self):
        """Bytes that each line of the program has come to have between the snapshots."""
        grown = {}
        if len(self.snapshots) == 2:
            for statistic in self.snapshots[1].compare_to(self.snapshots[0], "traceback"):
                own = [frame.lineno for frame in statistic.traceback if frame.filename == self.script]
                if own:
                    grown[own[-1]] = grown.get(own[-1], 0) + statistic.size_diff
        return grown


def inside(script, probe, seconds, interval, trace, result):
    if trace:
        import tracemalloc
        tracemalloc.start(12)
    sys.argv = [script, "--seconds", str(seconds)]
    sys.path[0] = os.path.dirname(script)
    sampler = Sampler(probe, interval, script if trace else None, result)
    sampler.start()
    try:
        runpy.run_path(script, run_name="__main__")
    finally:
        sampler.done.set()
        sampler.join()
        sampler.write()


# ---- outside


class Wrong(Exception):
    pass


def hold(condition, message, *values):
    if not condition:
        raise Wrong(message % values)


def run(arguments, entry, seconds, interval=1.0, trace=False):
    with tempfile.TemporaryDirectory() as folder:
        result = os.path.join(folder, "result.json")
        command = [arguments.python, os.path.abspath(__file__), "--inside", os.path.join(HERE, entry["file"]),
                   entry["probe"], str(seconds), str(interval), str(int(trace)), result]
        ended = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False,
                               env=dict(os.environ, PYTHONDONTWRITEBYTECODE="1", OPENBLAS_NUM_THREADS="1"))
        hold(ended.returncode == 0, "exit code %s: %s", ended.returncode, ended.stdout[-400:])
        with open(result) as file:
            found = json.load(file)
    if not trace:
        found["rounds"] = int(re.search(r"^rounds (\d+)$", ended.stdout, re.M).group(1))
    return found


def slope(samples):
    """Bytes a second by least squares."""
    times, sizes = [sample[0] for sample in samples], [sample[2] for sample in samples]
    middle = sum(times) / len(times), sum(sizes) / len(sizes)
    spread = sum((t - middle[0]) ** 2 for t in times)
    return sum((t - middle[0]) * (s - middle[1]) for t, s in zip(times, sizes)) / spread


def pace(entry):
    """Rounds a second on a machine that is not too busy."""
    with open(os.path.join(HERE, entry["file"])) as file:
        return float(re.search(r"per_second=([\d.]+)", file.read()).group(1))


def check_leak(arguments, entry):
    found = run(arguments, entry, arguments.seconds)
    # Not the first two, as it may be setting up, nor the last one, as it may be ending.
    samples = found["samples"][2:-1]
    hold(len(samples) >= 5, "%d samples; %s", len(samples), found["failed"])
    kept = [sample[1] for sample in samples]
    hold(all(a < b for a, b in zip(kept, kept[1:])), "what is kept does not grow all the time: %s", kept)
    rate = slope(samples) * pace(entry) * arguments.seconds / max(1, found["rounds"])
    each = (samples[-1][2] - samples[0][2]) / (kept[-1] - kept[0])
    hold(LEAST * MIB <= rate <= MOST * MIB, "grows by %.2f MiB/s", rate / MIB)
    traced = run(arguments, entry, TRACED_SECONDS, trace=True)
    samples = traced["samples"]
    hold(len(samples) >= SNAPSHOTS[-1], "%d samples are too few for tracemalloc", len(samples))
    lines = {int(line): grown for line, grown in traced["lines"].items()}
    grown = sum(size for size in lines.values() if size > 0)
    resident_grown = each * (samples[SNAPSHOTS[1] - 1][1] - samples[SNAPSHOTS[0] - 1][1])
    said = "%d to %d, %.2f MiB/s" % (kept[0], kept[-1], rate / MIB)
    if "native" in [entry["verdict"]] + entry.get("verdict_also", []):
        hold(grown < resident_grown / 2, "tracemalloc sees %.1f of %.1f MiB", grown / MIB, resident_grown / MIB)
        return said + "; of C"
    hold(grown > resident_grown / 2, "tracemalloc sees %.1f of %.1f MiB", grown / MIB, resident_grown / MIB)
    best = sorted(lines, key=lines.get, reverse=True)[:4]
    share = sum(max(0, lines.get(line, 0)) for line in entry["lines"]) / grown
    hold(share >= SHARE, "lines %s have %.0f%% of the growth, which is at %s", entry["lines"], 100 * share,
         ", ".join("%d: %.0f%%" % (line, 100 * lines[line] / grown) for line in best))
    return "%s; %.0f%% at lines of expected.json, most at %s" % (said, 100 * share, best[0])


def check_clean(arguments, entry):
    seconds = entry["settled_after"] + 2 * WINDOW + 3
    found = run(arguments, entry, seconds, interval=CLEAN_INTERVAL)
    samples = found["samples"]
    hold(samples, "no samples; %s", found["failed"])
    most = max(sample[1] for sample in samples)
    hold(0 < most or entry["category"].startswith("generator"), "nothing was ever kept: %s", entry["probe"])
    hold(most <= entry["bound"], "kept %s, at most %s are expected", most, entry["bound"])
    windows = []
    for place in (0, 1):
        begin = samples[0][0] + entry["settled_after"] + place * WINDOW
        windows.append([sample[2] for sample in samples if begin <= sample[0] < begin + WINDOW])
        hold(len(windows[-1]) >= 4, "%d samples in a window", len(windows[-1]))
    more = min(windows[1]) - min(windows[0])
    hold(more <= SLACK, "grows by %.1f MiB in %g s after it has settled", more / MIB, WINDOW)
    return "%s at most of %s, %+.1f MiB in %g s" % (most, entry["bound"], more / MIB, WINDOW)


def check_places(entry):
    with open(os.path.join(HERE, entry["file"])) as file:
        source = file.read().splitlines()
    hold(40 <= len(source) <= 120, "%d lines", len(source))
    hold(len(entry["lines"]) == len(entry["texts"]), "as many lines as texts")
    for line, text in zip(entry["lines"], entry["texts"]):
        hold(source[line - 1].strip() == text, "line %d is %r, not %r", line, source[line - 1].strip(), text)
    for words in [entry["holder_words"]] + entry.get("holder_words_also", []):
        hold(not set(words) & {entry["file"][:-3], "main", "service"}, "a word names every answer: %s", words)


def lacks(python, needs):
    code = "import importlib.util as u, sys; print(*[n for n in sys.argv[1:] if u.find_spec(n) is None])"
    return subprocess.run([python, "-c", code, *needs], stdout=subprocess.PIPE, text=True, check=True).stdout.split()


def judge(arguments, entry):
    try:
        check_places(entry)
        if arguments.places:
            return True, "places"
        missing = lacks(arguments.python, entry["needs"])
        if missing:
            return None, "no " + ", ".join(missing)
        return True, (check_leak if entry["kind"] == "leak" else check_clean)(arguments, entry)
    except Wrong as wrong:
        return False, str(wrong)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("words", nargs="*", help="only programs with one of them in their names")
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--seconds", type=float, default=12, help="of each run of a leak")
    parser.add_argument("--jobs", type=int, default=4)
    parser.add_argument("--places", action="store_true")
    arguments = parser.parse_args()
    with open(os.path.join(HERE, "expected.json")) as file:
        programs = json.load(file)["programs"]
    programs = [entry for entry in programs
                if not arguments.words or any(word in entry["file"] for word in arguments.words)]
    right = wrong = 0
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        judged = pool.map(lambda entry: judge(arguments, entry), programs)
        for entry, (good, said) in zip(programs, judged):
            right += good is True
            wrong += good is False
            word = {True: "right", False: "WRONG", None: "skipped"}[good]
            print("%-7s %-5s %-18s %s" % (word, entry["kind"], entry["file"], said), flush=True)
    print("%d right, %d wrong, %d skipped" % (right, wrong, len(programs) - right - wrong))
    return 1 if wrong or not right else 0


if __name__ == "__main__":
    if sys.argv[1:2] == ["--inside"]:
        script, probe, seconds, interval, trace, result = sys.argv[2:]
        inside(script, probe, float(seconds), float(interval), trace == "1", result)
    else:
        sys.exit(main())
