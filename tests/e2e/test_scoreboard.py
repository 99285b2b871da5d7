# SPDX-License-Identifier: Apache-2.0
"""The judge of findings, given reports whose verdict is known; no process is profiled."""
import os
import sys

from harness import ROOT, check, check_equal

sys.path.insert(0, os.path.join(ROOT, "tests", "bench"))

from findings import figures  # noqa: E402
from scoreboard import summary  # noqa: E402
from unseen import Truth, within  # noqa: E402

PROGRAM = "loop.py"
GUILTY = {"line": 7, "column": 4, "end_line": 7, "end_column": 9, "text": "f(x)", "function": "g"}
ALSO = {"line": 7, "column": 0, "end_line": 7, "end_column": 12, "text": "y = f(x)", "function": "g"}
CALLER = {"line": 20, "column": 2, "end_line": 20, "end_column": 5, "text": "g()", "function": "h"}


def truth():
    return Truth({"file": PROGRAM, "category": "memoizable", "needs": [], "lines": [7], "guilty": [GUILTY],
                  "also": [ALSO, CALLER], "saving_percent": {"median": 30, "min": 28, "max": 33}})


def line(number, self_ns, avoidable=0, low=0, high=0, category="unclear", place=None, file=PROGRAM):
    expression = place and dict(zip(("line", "end_line", "column", "end_column"), place), text="")
    none = {"sampled": 0, "redundant": 0, "approximate": 0}
    return {"file": "/anywhere/" + file, "line": number, "python_ns": self_ns, "native_ns": 0, "system_ns": 0,
            "charged_ns": self_ns, "avoidable_ns": avoidable, "avoidable_low_ns": low, "avoidable_high_ns": high,
            "category": category, "expression": expression, "loads": none, "stores": none}


def judged(*lines):
    report = {"lines": lines, "time_ns": {"python": 600, "native": 300, "system": 100}, "samples": 500,
              "overhead": 0.01, "duration_ns": 20 * 10**9, "loads": {"sampled": 3}, "stores": {"sampled": 2}}
    return dict(figures(truth(), report), set="unseen", version="slow", saving=truth().saving)


def test_right_finding_is_counted():
    found = judged(line(7, 400, 300, 250, 350, "memoizable", (7, 7, 4, 9)), line(9, 500, 20, 0, 40), line(11, 10))
    check_equal((found["rank"], found["rank_also"], found["rank_time"]), (1, 1, 2), "ranks")
    check_equal(found["first"]["judged"], "exact", "the expression")
    check(found["category_right"], "the category is wrong")
    check_equal(within(found), True, "real saving within the interval")
    check_equal((found["largest"], found["sum"]), (0.3, 0.32), "avoidable shares")
    check_equal(found["scored"], [(True, 0.3, 0.4), (False, 0.02, 0.5)], "labelled lines")


def test_other_names_of_the_waste_are_counted_apart():
    found = judged(line(7, 400, 100, 0, 200), line(20, 300, 200, 100, 290, "memoizable", (20, 20, 2, 5)))
    check_equal((found["rank"], found["rank_also"]), (2, 1), "ranks")
    check_equal(found["first"]["judged"], "also", "the expression")
    check_equal((within(found), within(found, "all")), (False, True), "real saving within: first line, all named")
    check_equal(found["scored"], [(True, 0.1, 0.4)], "labelled lines")


def test_wrong_findings_are_not_counted():
    found = judged(line(7, 400, 300, 250, 350, "api-misuse", (7, 7, 4, 8)))
    check_equal(found["first"]["judged"], "other", "an expression with other columns")
    check(not found["category_right"], "api-misuse is not what is expected")

    elsewhere = judged(line(7, 400, 300, 250, 350, "memoizable", (7, 7, 4, 9), file="other.py"))
    check_equal((elsewhere["rank"], elsewhere["rank_also"]), (None, None), "ranks of the line of another file")
    check_equal((elsewhere["first"]["judged"], elsewhere["category_right"]), ("other", False), "of another file")
    check_equal(within(elsewhere), False, "an interval of a line that does not name the waste")
    check_equal(elsewhere["scored"], [(True, 0, 0)], "a guilty line that the profile has not")

    nothing = judged(line(7, 400, category="memoizable"))
    check_equal((nothing["first"], nothing["rank"], nothing["category_right"]), (None, None, False), "no finding")


def test_tied_line_takes_the_worst_place():
    check_equal(judged(line(7, 400, 300), line(9, 400, 300))["rank"], 2, "rank of one of two equal lines")


def test_summary_counts():
    right = judged(line(7, 400, 300, 250, 350, "memoizable", (7, 7, 4, 9)), line(9, 500, 20, 0, 40))
    wrong = judged(line(7, 300), line(9, 400, 90, 50, 130, "memoizable", (9, 9, 0, 2)))
    clean = dict(judged(line(9, 400, 90, 50, 130)), version="clean", saving=None)
    rows = dict(summary([right, wrong, clean]))
    check_equal(rows["profiles: wasteful, fixed, clean"], "2, 0, 1", "profiles")
    check_equal(rows["a guilty line first by avoidable time"], "1 of 2", "guilty first")
    check_equal(rows["the first line's expression is the guilty one"], "1 of 2", "expressions")
    check_equal(rows["real saving within the first line's interval"], "1 of 2", "within")
    check_equal(rows["width of the first line's interval, median"], "9.0%", "widths 10% and 8%")
    check_equal(rows["clean: no line with 5% avoidable; the most"], "0 of 1; 9.0%", "clean")
    # Guilty 0.3 and 0 against 0.02 and 0.09: two of four pairs; by time 0.4 and 0.3 against 0.5 and 0.4: half of one.
    check_equal([value for name, value in rows.items() if name.startswith("area")],
                ["0.500, 0.125, +0.375 (2, 2)"], "areas")
