# SPDX-License-Identifier: Apache-2.0
"""tests/leaks/expected.json names lines that are there, and tests/bench/leaks.py judges what is said of growth by it."""
import json
import os
import subprocess
import sys
import tempfile

from harness import ROOT, check, check_equal


def report(kind, growing=(), holders=()):
    return {"heap": {"growing": list(growing), "holders": list(holders), "verdict": {"kind": kind, "text": ""}}}


def growing(path, name="dict", lines=()):
    return {"path": path, "type": name, "lengths": [1, 2], "per_s": 1.0, "lines": list(lines)}


def at(file, line, function="f"):
    return {"file": "/srv/" + file, "line": line, "function": function}


def steps(*names):
    return [{"step": name, "type": "dict"} for name in names]


def other(number):
    return growing("other_%d{*}" % number)


def judged(reports):
    """A row's cells by the program's name, and the last line, of reports by that name."""
    with tempfile.TemporaryDirectory() as folder:
        for name, made in reports.items():
            with open(os.path.join(folder, name + ".json"), "w") as file:
                json.dump(made, file)
        run = subprocess.run([sys.executable, os.path.join(ROOT, "tests", "bench", "leaks.py"), "--judge", folder],
                             stdout=subprocess.PIPE, text=True, check=False)
    lines = run.stdout.splitlines()
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("| ")]
    check_equal(run.returncode, 0 if reports else 1, "exit code")
    return {row[0]: row for row in rows}, lines[-1]


def place(name):
    with open(os.path.join(ROOT, "tests", "leaks", "expected.json")) as file:
        return next(entry["lines"][0] for entry in json.load(file)["programs"] if entry["file"] == name + ".py")


def test_leaks_places():
    run = subprocess.run([sys.executable, os.path.join(ROOT, "tests", "leaks", "check_truth.py"), "--places"],
                         stdout=subprocess.PIPE, text=True, check=False)
    check_equal(run.returncode, 0, "exit code, after %s" % run.stdout)
    check_equal(run.stdout.splitlines()[-1], "36 right, 0 wrong, 0 skipped", "what it says at its end")


def test_leaks_judged_right():
    rows, last = judged({
        "fare_quotes": report("leak", [other(1), other(2), growing(
            "__main__.quotes{*}", lines=[at("fare_quotes.py", place("fare_quotes"))])]),
        "turnstiles": report("leak", [growing(
            steps("__main__", ".Gate", ".admitted", "[*]"), "list",
            ["turnstiles.py:%d (Gate.read)" % place("turnstiles")])]),
        "tide_gauges": report("leak", (), [{"path": steps("other"), "bytes_per_s": 5},
                                           {"path": steps("arrived", "[*]"), "bytes_per_s": 9e6}]),
        "print_room": report("leak", [growing("main().chain.earliest.following*", "print_room.Job")]),
        "label_printer": report("native"),
        "herb_book": report("steady"),
        "milk_rounds": report("steady"),
    })
    for name in ("fare_quotes", "turnstiles"):
        check_equal(rows[name][3:6], ["yes", "yes", "leak"], name)
    check_equal(rows["tide_gauges"][3:6], ["yes", "**no**", "leak"], "a holder alone")
    check_equal(rows["print_room"][3:5], ["yes", "**no**"], "another name of it")
    check_equal(rows["label_printer"][3:6], ["yes", "**no**", "native"], "held by nobody")
    check_equal(rows["herb_book"][3:5], ["no", "steady"], "a clean program")
    check_equal(last, "holder named in 5 of 5, line in 2 of 5, clean accused 0 of 2; verdict right in 7 of 7; not run: 29",
                "the sum")


def test_leaks_judged_wrong():
    line = place("fare_quotes")
    rows, last = judged({
        # A word is not a part of another one, a fourth entry is not read, and what does not grow is no answer.
        "fare_quotes": report("leak", [growing("__main__.quotes_seen{*}", lines=[at("other.py", line)]), other(1),
                                       other(2), growing("__main__.quotes", lines=[at("fare_quotes.py", line)])],
                              [{"path": steps("quotes"), "bytes_per_s": 0}]),
        # Both words are wanted, in one entry.
        "turnstiles": report("steady", [growing("__main__.Gate.shown"), growing("Fence.admitted")]),
        # Where it grows is not who holds it, though the function has the holder's name.
        "parcel_zones": report("leak", [growing("?", lines=[at("parcel_zones.py", place("parcel_zones"), "tour")])]),
        "label_printer": report("leak", [growing("__main__.sheet")]),
        "herb_book": report("leak", [other(1)]),
        "archive_pages": {"heap": {}},
        "gazetteer": {},
    })
    check_equal(rows["fare_quotes"][3:6], ["**no**", "**no**", "leak"], "near misses")
    check_equal(rows["turnstiles"][3:6], ["**no**", "**no**", "**steady**"], "half of it")
    check_equal(rows["parcel_zones"][3:5], ["**no**", "yes"], "a function's name")
    check_equal(rows["label_printer"][3], "**no**", "the wrong verdict")
    check_equal(rows["herb_book"][3], "**yes**", "accused")
    check_equal(rows["archive_pages"][3:6], ["**no**", "**no**", "**None**"], "a report that says nothing")
    check("gazetteer" not in rows, "a report without a heap is judged")
    check_equal(last, "holder named in 0 of 5, line in 1 of 5, clean accused 1 of 1; verdict right in 2 of 6; not run: 30",
                "the sum")


def test_leaks_judged_nothing():
    rows, last = judged({})
    check(last.endswith("not run: 36"), "%s %s" % (rows, last))
