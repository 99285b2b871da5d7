# SPDX-License-Identifier: Apache-2.0
"""Recordings: every format out of one file, what is left when the daemon is killed, what changed between two."""
import contextlib
import json
import os
import pty
import random
import re
import shutil
import signal
import subprocess
import tempfile
import time

from browser import Browser, find_browser
from test_formats import schema_problem
from harness import (
    Daemon,
    MANY_SAMPLES,
    PIEPROFD,
    Skip,
    Target,
    alone,
    check,
    check_equal,
    check_sampled,
    default_interpreter,
    pieprofd,
    wait_attached,
    wait_until,
)

EXTENSIONS = (".txt", ".json", ".folded", ".pb.gz", ".speedscope.json", ".firefox.json", ".html", ".sarif",
              ".github.txt", ".md", ".jsonl", ".pieprof")
HOT_LINE = "g[f] += d[i, j, f] * r"


@contextlib.contextmanager
def folder_of_its_own():
    folder = tempfile.mkdtemp(prefix="pieprofd-test-")
    try:
        yield folder
    finally:
        shutil.rmtree(folder)


def contents(path):
    with open(path, "rb") as file:
        return file.read()


def load(path):
    with open(path) as file:
        return json.load(file)


def converted(recording):
    """The JSON report of a recording."""
    return json.loads(pieprofd("report", recording, "--format", "json").stdout)


def test_every_format(one_interpreter):
    """What report makes of a recording is what the session itself wrote, byte for byte."""
    with folder_of_its_own() as folder, Target(one_interpreter, "conv_backprop.py", "--seconds", 60) as target:
        direct = [os.path.join(folder, "direct" + extension) for extension in EXTENSIONS]
        later = [os.path.join(folder, "later" + extension) for extension in EXTENSIONS]
        run = pieprofd("--pid", target.pid, "-d", 4, "--native-lines", "--details", *MANY_SAMPLES,
                       *[word for path in direct for word in ("-o", path)])
        target.process.kill()
        target.process.wait()
        # A conversion is quiet.
        quiet = pieprofd("report", direct[-1], *[word for path in later for word in ("-o", path)])
        check_equal((quiet.stdout, quiet.stderr), ("", ""), "what report said")
        for extension, expected, path in zip(EXTENSIONS, direct, later):
            check(contents(expected) == contents(path), "%s is another file out of the recording" % extension)
            check_equal(os.stat(path).st_mode & 0o777, 0o600, "mode of %s" % path)
        said, wrote = run.stdout.rsplit("Wrote ", 1)
        check_equal(pieprofd("report", direct[-1], "--details").stdout.rstrip(), said.rstrip(), "the summary")
        check(all(path in "".join(wrote.split()) for path in direct), "what was written: %s" % wrote)
        profile = load(direct[1])
        check(profile["samples"] > 0 and profile["pairs"], "an empty profile tells nothing")
        check(any(source["file"].endswith("conv_backprop.py") and len(source["sha256"]) == 64
                  for source in profile["sources"]), "sources: %s" % profile["sources"])


def test_refusals():
    with folder_of_its_own() as folder, Target(default_interpreter(), "conv_backprop.py", "--seconds", 60) as target:
        good, bad = os.path.join(folder, "good.pieprof"), os.path.join(folder, "bad.pieprof")
        pieprofd("--pid", target.pid, "-d", 0.5, "-q", "-o", good)
        bytes_ = contents(good)

        def refused(data, code, *words):
            with open(bad, "wb") as file:
                file.write(data)
            said = pieprofd("report", bad, code=code).stderr
            check(all(word in said for word in words), said)
            check(len(said.splitlines()) == 2, "a cause and a cure: %s" % said)

        refused(b"", 2, "not a recording")
        refused(b"{}", 2, "not a recording")
        refused(bytes_[:-1], 1, "truncated", "copy it")
        refused(bytes_[:20], 1, "truncated")
        refused(bytes_[:60] + bytes([bytes_[60] ^ 1]) + bytes_[61:], 1, "damaged")
        refused(bytes_[:8] + b"\x07" + bytes_[9:], 2, "version 7", "later one")
        check("No such file" in pieprofd("report", good + "x", code=2).stderr, "a file that is not there")
        check("--include" in pieprofd("report", good, "--include", "x", code=2).stderr, "an option of record")
        check("--pid" in pieprofd("report", good, "--pid", 1, code=2).stderr, "an option of record")
        check("pprof" in pieprofd("report", good, "--diff", good, "-o", "x.pb.gz", code=2).stderr, "a diff as pprof")
        check("--diff" in pieprofd("report", good, "--fail-if", "own+1%", code=2).stderr, "--fail-if without --diff")
        check("own+10%" in pieprofd("report", good, "--diff", good, "--fail-if", "own", code=2).stderr, "half a change")
        check("no/x.json" in pieprofd("report", good, "-o", os.path.join(folder, "no/x.json"), code=1).stderr,
              "a folder that is not there")


def test_killed_daemon(one_interpreter):
    """Killed at any moment, the daemon leaves a recording that opens, or the file that was there before."""
    generator = random.Random(11)
    with folder_of_its_own() as folder, Target(one_interpreter, "conv_backprop.py", "--seconds", 120) as target:
        path = os.path.join(folder, "x.pieprof")
        pieprofd("--pid", target.pid, "-d", 0.5, "-q", "-o", path)
        old, later = contents(path), 0
        for round_ in range(20):
            with Daemon("--pid", target.pid, "-d", 60, "-q", "-o", path, *MANY_SAMPLES) as daemon:
                wait_attached(target.pid)
                if round_ == 0:
                    wait_until(lambda: contents(path) != old, what="a recording while it goes on")
                elif round_ % 7 == 0:
                    # Around the first writing.
                    time.sleep(1.95 + 0.3 * generator.random())
                else:
                    # What writes last is the end.
                    time.sleep(0.2)
                    daemon.signal(signal.SIGTERM)
                    time.sleep(0.2 * generator.random())
                daemon.signal(signal.SIGKILL)
                daemon.process.wait()
            after = contents(path)
            profile = converted(path)
            check_sampled(profile["samples"] > 0, "round %d left a recording without samples" % round_)
            later += after != old
            old = after
            if round_ == 0:
                check("while sampling went on" in pieprofd("report", path).stderr, "it is not called unfinished")
        check(later > 1, "%d rounds wrote something" % later)
        target.check_undisturbed()


def test_killed_writer():
    """report itself, killed while it writes: each output is the old file or the new one."""
    generator = random.Random(5)
    with folder_of_its_own() as folder, Target(default_interpreter(), "conv_backprop.py", "--seconds", 60) as target:
        recording = os.path.join(folder, "x.pieprof")
        paths = [os.path.join(folder, "out" + extension) for extension in EXTENSIONS]
        pieprofd("--pid", target.pid, "-d", 2, "-q", "-o", recording)
        command = [PIEPROFD, "report", recording] + [word for path in paths for word in ("-o", path)]
        began = time.monotonic()
        subprocess.run(command, check=True)
        whole = time.monotonic() - began
        new = [contents(path) for path in paths]
        replaced = 0
        for _ in range(20):
            for path in paths:
                with open(path, "w") as file:
                    file.write("old")
            with subprocess.Popen(command) as process:
                time.sleep(whole * generator.random())
                process.kill()
            for path, expected in zip(paths, new):
                found = contents(path)
                check(found in (b"old", expected), "%s is neither old nor new" % path)
                replaced += found != b"old"
        check(0 < replaced < 20 * len(paths), "%d files were replaced: no kill came while it wrote" % replaced)


def check_changed_findings(folder, base, now):
    """The mended line's finding is gone, and would be new the other way round. Now and then the pass as a whole, which does the
    same each time, is named in its place."""
    path = os.path.join(folder, "diff.sarif")
    for first, second, state, change in ((base, now, "absent", "gone"), (now, base, "new", "new")):
        pieprofd("report", second, "--diff", first, "-o", path, "--source-root", "/")
        check_equal(schema_problem("sarif.schema.json", path), None, "what is wrong with SARIF")
        results = [result for result in load(path)["runs"][0]["results"] if HOT_LINE in json.dumps(result["locations"])]
        found = [(result["baselineState"], result["properties"]["change"]) for result in results]
        check_sampled(found == [(state, change)], "what became of the mended line: %s" % found)
        annotations = pieprofd("report", second, "--diff", first, "--format", "github").stdout
        is_new = HOT_LINE.split(" += ")[1] in annotations and "New since the base" in annotations
        check_sampled(is_new == (change == "new"), "the annotation in %s" % annotations)
        markdown = pieprofd("report", second, "--diff", first, "--format", "markdown").stdout
        check_sampled(re.search(r"^\| %s \| [0-9.%%-]+ \| [0-9.%%-]+ \| `\S*conv_backprop.py:[0-9]+`" % change, markdown, re.M),
                      markdown)
        # The first screen; all of it is for those who ask, and for files.
        path_of_text = os.path.join(folder, "diff.txt")
        screen = pieprofd("report", second, "--diff", first, "-o", path_of_text, "-o", "-").stdout
        row = r"^ *[0-9.%%-]+ +[0-9.%%-]+ could save  %s +\S*conv_backprop.py:[0-9]+ " % change
        for text in (screen, pieprofd("report", second, "--diff", first, "--details").stdout, contents(path_of_text).decode()):
            check_sampled(re.search(row, text, re.M), text)
            check_equal("FUNCTIONS" in text, text != screen, "whether all of it is in %s" % text)
        check(len(screen.splitlines()) <= 20, screen)


@alone
def test_difference(one_interpreter):
    with folder_of_its_own() as folder:
        recordings = []
        for arguments in ((), ("--fixed",)):
            path = os.path.join(folder, "x%d.pieprof" % len(recordings))
            with Target(one_interpreter, "conv_backprop.py", "--seconds", 60, *arguments) as target:
                pieprofd("--pid", target.pid, "-d", 4, "-q", "-o", path, *MANY_SAMPLES)
            recordings.append(path)
        base, now = recordings
        path = os.path.join(folder, "diff.json")
        text = pieprofd("report", now, "--diff", base).stdout
        pieprofd("report", now, "--diff", base, "-o", path)
        lines = load(path)["lines"]
        mended = [line for line in lines if line["source"] == HOT_LINE]
        check(lines[0]["source"] == HOT_LINE, "the first of the lines is %s" % lines[0])
        check_equal(mended[0]["presence"], "gone", "the mended line")
        check(not mended[0]["noise"], "its change is called noise: %s" % mended[0])
        low, high = mended[0]["share_change_interval"]
        check(-1 <= low < high < -0.5, "the interval of its change: %s to %s" % (low, high))
        functions = load(path)["functions"]
        check(functions[0]["function"].endswith("backprop"), "the first function is %s" % functions[0])
        pairs = [pair for pair in load(path)["pairs"] if pair["first"]["source"] == HOT_LINE]
        check(pairs and all(pair["presence"] == "gone" for pair in pairs), "its pairs: %s" % pairs)
        check("gone" in text and "backprop" in text and "noise" in text, text)
        check_changed_findings(folder, base, now)
        # Nothing changed.
        pieprofd("report", base, "--diff", base, "-o", path)
        same = load(path)
        check(all(entry["noise"] for key in ("lines", "functions", "pairs") for entry in same[key]),
              "a difference of a profile from itself")
        check(same["avoidable_noise"], "avoidable time that differs from itself")
        pieprofd("report", base, "--diff", base, "-q", *[word for change in ("own+0%", "own-0%", "total+0%", "could-save+0%")
                                                         for word in ("--fail-if", change)])
        # As if the line that was mended had come: it is named with both figures, whatever else is written.
        run = pieprofd("report", base, "--diff", now, "--fail-if", "own+10%", "--format", "json", code=8)
        check("lines" in json.loads(run.stdout), "the difference")
        check(re.match(r"pieprofd: --fail-if own\+10%: \S*conv_backprop\.py:[0-9]+ in \S*backprop: own time 0\.0% "
                       r"\(0\.0 ms a second\) before, [0-9.]+% \([0-9.]+ ms a second\) now", run.stderr), run.stderr)
        check("own-10%" in pieprofd("report", now, "--diff", base, "--fail-if", "own-10%", "-q", code=8).stderr, "gone")


def check_source_note(page):
    """Beside the source itself, where there is a browser to see it."""
    try:
        find_browser()
    except Skip:
        return
    with Browser() as browser:
        browser.open(page)
        note = browser.evaluate("(e => e ? e.innerText : '')(document.querySelector('#source-list .note'))")
        check("changed after the process had started" in note, "the note at the source: %r" % note)
        check_equal(browser.problems, [], "what the browser complained of")


def test_progress_is_for_terminals():
    """Steps that take a while are told on a terminal, and there alone."""
    with folder_of_its_own() as folder, Target(default_interpreter(), "conv_backprop.py", "--seconds", 60) as target:
        path = os.path.join(folder, "x.json")
        piped = pieprofd("--pid", target.pid, "-d", 0.5, "-o", path)
        check_equal(piped.stderr, "", "stderr that is no terminal")
        master, slave = pty.openpty()
        with os.fdopen(master, "rb", buffering=0) as terminal:
            with subprocess.Popen([PIEPROFD, "--pid", str(target.pid), "-d", "0.5", "-o", path],
                                  stdout=subprocess.DEVNULL, stderr=slave) as process:
                os.close(slave)
                said = b""
                with contextlib.suppress(OSError):  # how a terminal without its other end says so
                    for part in iter(lambda: terminal.read(4096), b""):
                        said += part
                check_equal(process.wait(), 0, "exit code")
        for step in (b"profiling process", b"reading the names", b"writing json, file 1 of 1"):
            check(step in said, "%r was not told: %r" % (step, said))
        check(said.endswith(b"\r\x1b[K"), "something is left on the terminal: %r" % said)


def test_changed_source():
    """Text that may not be what runs is called so, in every report for people and programs."""
    interpreter = default_interpreter()
    script = ("import time\nprint('ready', flush=True)\nend = time.monotonic() + 60\n"
              "while time.monotonic() < end:\n    sum(i for i in range(1000))\n")
    with folder_of_its_own() as folder:
        path = os.path.join(folder, "edited.py")
        recording = os.path.join(folder, "x.pieprof")
        with open(path, "w") as file:
            file.write(script)
        time.sleep(0.1)  # files' times are a clock tick coarse, and so are those of processes
        with subprocess.Popen([interpreter.path, path], stdout=subprocess.PIPE, text=True) as process:
            try:
                check_equal(process.stdout.readline(), "ready\n", "the target's first line")
                pieprofd("--pid", process.pid, "-d", 1, "-q", "-o", recording)
                sources = {source["file"]: source for source in converted(recording)["sources"]}
                check(path in sources and not sources[path]["newer_than_process"], "%s" % sources)
                check("changed after" not in pieprofd("report", recording).stdout, "a warning for nothing")
                time.sleep(0.1)
                with open(path, "w") as file:
                    file.write(script.replace("1000", "2000"))
                sources = {source["file"]: source for source in converted(recording)["sources"]}
                check(sources[path]["differs_now"], "%s" % sources[path])
                check("changed since the recording" in pieprofd("report", recording).stdout, "no warning")
                run = pieprofd("--pid", process.pid, "-d", 1, "-o", recording)
                check("edited.py changed after the process had started" in " ".join(run.stdout.split()), run.stdout)
                sources = {source["file"]: source for source in converted(recording)["sources"]}
                check(sources[path]["newer_than_process"] and not sources[path]["differs_now"], "%s" % sources[path])
                page = os.path.join(folder, "x.html")
                pieprofd("report", recording, "-o", page)
                check(b"edited.py changed after the process had started" in contents(page), "no warning in HTML")
                check_source_note(page)
            finally:
                process.kill()
