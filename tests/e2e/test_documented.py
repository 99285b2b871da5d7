# SPDX-License-Identifier: Apache-2.0
"""Help, manual pages and completion have the same commands and options; JSON has the members of its page."""
import glob
import json
import os
import re
import shutil
import subprocess
import tempfile

from documented import (completed, help_commands, help_options, manual_members, manual_options, manual_page)
from harness import PIEPROFD, ROOT, Target, check, check_equal, default_interpreter, pieprofd

# Values that are right, for options that do not take just any.
VALUES = {"pid": "1", "duration": "1", "rate": "9", "output": "x.json", "format": "json", "mode": "time", "engine": "auto",
          "max-overhead": "1", "fail-if": "own+10%", "stop-signal": "URG", "color": "never", "editor": "vscode", "source-url": "https://x/{path}",
          "lines": "1", "pairs": "1", "max-memory": "1G",
          "interval": "1", "push": "http://x", "push-every": "1", "push-header": "A: b"}


def parsed_options():
    """What the table of options has: names, whether they take a value; a second name for the same is left out."""
    with open(os.path.join(ROOT, "daemon", "cli", "option_table.c")) as file:
        rows = re.findall(r'\.name = "([a-z-]+)",(?:\s+\.alias = "([a-z-]+)",)?(?:\s+\.\w+ = [^{]+,)*?'
                          r'\s+\.help = \{ \{ [A-Z|&~ ]+,\s+(NULL|")', file.read())
    check(len(rows) > 20, "option_table.c was not understood: %r" % rows)
    return {name: argument != "NULL" for name, _, argument in rows}, {alias for _, alias, _ in rows if alias}


# ---- options


def test_options_are_the_same_everywhere():
    options, aliases = parsed_options()
    shown = {"version"}
    commands = list(dict.fromkeys(help_commands()))
    check_equal(completed(""), set(commands), "commands that completion offers")
    for command in commands:
        wanted = help_options(command)
        shown |= wanted
        page = "pieprofd-%s.8" % command
        check_equal(manual_options(page) - aliases, wanted, "options of %s" % page)
        check_equal(completed(command, "--"), {"--" + name for name in wanted}, "completion of %s --" % command)
        check(".Xr pieprofd-%s 8" % command in manual_page("pieprofd.8"), "pieprofd.8 does not name %s" % page)
    check_equal(shown, set(options), "options that some command shows, and those that are parsed")
    check(help_options("record") | {"version"} <= help_options(), "pieprofd --help lacks options of record")
    check(manual_options("pieprofd.8") <= help_options(), "pieprofd.8 has options that are nowhere else")


def test_options_of_other_commands_are_refused():
    options, _ = parsed_options()
    for command in dict.fromkeys(help_commands()):
        for name in sorted(set(options) - help_options(command) - {"version"}):
            words = ["--" + name] + ([VALUES.get(name, "x")] if options[name] else [])
            run = pieprofd(command, *(["x.pieprof"] if command == "report" else []), *words, code=2)
            check("--" + name in run.stderr, "%s %s: %r" % (command, " ".join(words), run.stderr))


def test_completion():
    check_equal(completed("do"), {"doctor"}, "of do")
    check_equal(completed("--mode", ""), {"all", "time", "redundancy"}, "of --mode")
    check_equal(completed("--mode", "=", "ti"), {"time"}, "of --mode=ti, which bash splits")
    check_equal(completed("--engine", ""), {"auto", "ptrace", "kernel"}, "of --engine")
    check_equal(completed("--mode", "="), {"all", "time", "redundancy"}, "of --mode=")
    check_equal(completed("dump", "--js"), {"--json"}, "of dump --js")
    check_equal(completed("-o", "report", "--dif"), set(), "-o's value is no command")
    check_equal(completed("list", ""), set(), "nothing follows list")
    check_equal(completed("mcp", ""), set(), "nothing follows mcp")
    names = re.search(r"([a-z, ]+ or [a-z]+|[a-z]+(?:, [a-z]+)+(?: and [a-z]+)?)$",
                      pieprofd("--pid", "1", "--format", "yaml", code=2).stderr.strip()).group(0)
    check_equal(completed("--format", ""), set(re.split(r", | and | or ", names)), "of --format")
    check("stat" in completed("--", "sta"), "programs are not offered behind --")
    folder = tempfile.mkdtemp(prefix="pieprofd-test-")
    try:
        for name in ("a.pieprof", "a.json"):
            open(os.path.join(folder, name), "w").close()
        check_equal(completed("report", folder + "/"), {folder + "/a.pieprof"}, "recordings")
        check_equal(completed("-o", folder + "/"), {folder + "/a.pieprof", folder + "/a.json"}, "files")
    finally:
        shutil.rmtree(folder)


def test_completion_of_processes():
    with Target(default_interpreter(), "conv_backprop.py", "--seconds", 60) as target:
        check(str(target.pid) in completed("--pid", ""), "the target is not offered")
        check(str(target.pid) in completed("dump", "-p", ""), "the target is not offered to dump")


# ---- files and functions that documents name


def document_texts():
    for path in glob.glob(os.path.join(ROOT, "**", "*.md"), recursive=True):
        with open(path, encoding="utf-8") as file:
            yield os.path.relpath(path, ROOT), file.read()


def test_files_that_documents_name():
    missing, count = [], 0
    for document, text in document_texts():
        if document.startswith(("build", ".")) or document == "docs/CHANGELOG.md":
            continue
        for name in re.findall(r"`((?:common|attach|symbolize|pyintrospect|daemon|tests)/[\w/.-]+\.\w+)`", text):
            count += 1
            if not re.search("NAME|NOUN", name) and not os.path.exists(os.path.join(ROOT, name)):
                missing.append("%s names %s" % (document, name))
    check(count > 100 and not missing, "%d names; missing: %s" % (count, missing))


def test_walk_names_functions():
    """Each line of docs/WALK.md names a file, functions of that file, and files of its folder."""
    with open(os.path.join(ROOT, "docs", "WALK.md"), encoding="utf-8") as file:
        rows = re.findall(r"^ {4,}(\S+/)(\w+\.c)((?: \w+\(\))+)(.*(?:\n +\w+\.c,.*)*)", file.read(), re.M)
    check(len(rows) > 50, "WALK.md was not understood")
    for folder, name, functions, words in rows:
        path = folder + name
        with open(os.path.join(ROOT, path), encoding="utf-8") as file:
            text = file.read()
        for other in re.findall(r"[\w/]+\.[ch]\b", words):
            check(os.path.exists(os.path.join(ROOT, "" if "/" in other else folder, other)), "%s: %s" % (path, other))
        for function in re.findall(r"(\w+)\(\)", functions):
            check(re.search(r"^\w.*\b%s\(" % function, text, re.M), "%s has no %s()" % (path, function))


# ---- members of JSON


def compare(what, found, documented):
    check(found <= documented, "%s has %s, which pieprofd-formats.5 has not" % (what, sorted(found - documented)))


def compare_frames(frames, sections):
    for frame in frames:
        compare("a frame", set(frame), sections["Frames"])


def compare_profile(report, sections):
    compare("the report", set(report), sections["json"])
    for name in ("target", "stop_ns", "time_ns", "waiting_ns", "timeline"):
        compare(name, set(report[name]), sections["json"])
    for name in ("threads", "sources", "processes"):
        check(report[name], "no %s to compare" % name)
        for entry in report[name]:
            compare(name, set(entry), sections["json"])
    for entry in report["timeline"]["threads"]:
        compare("the timeline", set(entry), sections["json"])
    compare("losses", set(report["losses"]), sections["Losses"])
    for name in ("lines", "functions"):
        check(report[name], "no %s to compare" % name)
        for entry in report[name]:
            compare(name, set(entry), sections[name.capitalize()])
            compare("evidence", set(entry.get("evidence", ())), sections["Lines"])
            for kind in ("loads", "stores"):
                compare(kind, set(entry[kind]), sections["Accesses"])
    for pair in report["pairs"]:
        compare("a pair", set(pair), sections["Pairs"])
        compare_frames(pair["first"] + pair["second"], sections)


def compare_dump(dump, sections):
    compare("a dump", set(dump), sections["Dumps"])
    check(dump["threads"], "no threads")
    for entry in dump["threads"] + dump["tasks"]:
        compare("a dump", set(entry), sections["Dumps"])
        compare_frames(entry["frames"], sections)


def compare_heap(heap, known):
    compare("a look at a heap", set(heap) | set(heap["heap"]), known)
    for name in ("process", "regions", "quality", "verdict", "watch", "limit", "not_followed"):
        compare(name, set(heap["heap"][name]), known)
    for name in ("types", "holders", "looks"):
        check(heap["heap"][name], "no %s to compare" % name)
        for entry in heap["heap"][name]:
            compare(name, set(entry).union(*entry.get("path", ())), known)


def compare_diff(diff, sections):
    known = sections["Differences"]
    compare("a diff", set(diff), known)
    for entry in [diff["base"], diff["now"]] + diff["lines"] + diff["functions"] + diff["pairs"]:
        compare("a diff", set(entry), known)
    for pair in diff["pairs"]:
        compare("a place", set(pair["first"]) | set(pair["second"]), known)


def test_members_of_json():
    sections = manual_members("pieprofd-formats.5")
    folder = tempfile.mkdtemp(prefix="pieprofd-test-")
    report, recording = os.path.join(folder, "x.json"), os.path.join(folder, "x.pieprof")
    try:
        with Target(default_interpreter(), "conv_backprop.py", "--seconds", 60) as first, \
                Target(default_interpreter(), "tasks.py", stdin=subprocess.PIPE) as second:
            pieprofd("--pid", "%d,%d" % (first.pid, second.pid), "-d", 3, "-q", "--idle", "--native-lines",
                     "-o", report, "-o", recording)
            compare_dump(json.loads(pieprofd("dump", "--pid", second.pid, "--json").stdout), sections)
            found = json.loads(pieprofd("list", "--json").stdout)
            heap = json.loads(pieprofd("heap", second.pid, "-d", 0.5, "--interval", 0.1, "--format", "json").stdout)
        with open(report) as file:
            compare_profile(json.load(file), sections)
        compare("the list", set(found), sections["Lists"])
        compare_heap(heap, sections["Heaps"])
        for process in found["processes"]:
            compare("a process", set(process) | set(process["container"] or ()), sections["Lists"])
        run = pieprofd("report", recording, "--diff", recording, "--format", "json")
        compare_diff(json.loads(run.stdout), sections)
    finally:
        shutil.rmtree(folder)


def test_members_that_writers_know():
    """Also of what no run here has."""
    documented = set().union(*manual_members("pieprofd-formats.5").values())
    written = set()
    for path in (glob.glob(os.path.join(ROOT, "daemon", "report", "*", "*.c")) +
                 glob.glob(os.path.join(ROOT, "daemon", "inspect", "*_writer.c")) +
                 glob.glob(os.path.join(ROOT, "daemon", "heap", "*_json.c"))):
        with open(path) as file:
            text = file.read()
        if os.path.basename(path).startswith(("firefox", "speedscope", "html", "sarif")):
            continue  # their members are those of others' formats, or may change
        written |= set(re.findall(r'json_with\([^"]*?"(\w+)"', text))
        written |= set(re.findall(r'put_member\([^"]*?"(\w+)"', text))
        written |= set(re.findall(r'\{ "(\w+)", json_', text))
    check({"pid", "waiting_ns", "overhead", "torn_pools"} <= written, "the writers were not understood: %s" % sorted(written))
    compare("some writer", written, documented)
    with open(os.path.join(ROOT, "daemon", "capture", "loss.h")) as file:
        reasons = set(re.findall(r'X\(LOSS_\w+, "(\w+)"', file.read()))
    check(len(reasons) > 20, "loss.h was not understood")
    check_equal(manual_members("pieprofd-formats.5").get("Losses"), reasons, "the reasons in pieprofd-formats.5")


def test_members_of_doctor():
    # Its exit code says what works on this machine.
    run = subprocess.run([PIEPROFD, "doctor", "--json"], capture_output=True, text=True, check=False)
    found = json.loads(run.stdout)
    known = manual_members("pieprofd-formats.5")["Doctor"]
    compare("doctor", set(found), known)
    named = set(re.findall(r"[a-z-]+", " ".join(re.findall(r"^\.Cm (.*)", manual_page("pieprofd-formats.5"), re.M))))
    for line in found["lines"]:
        compare("doctor", set(line), known)
        compare("doctor", {line["id"]}, named)
