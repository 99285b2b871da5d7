# SPDX-License-Identifier: Apache-2.0
"""`pieprofd heap --diff`: what has grown between two looks, of files and of a process that runs."""
import json
import os
import tempfile

from browser import Browser, find_browser
from documented import manual_members
from harness import check, check_equal, default_interpreter, pieprofd, wait_until
from test_documented import compare
from test_dump import reads_input, waiting_target
from test_heap_page import Page
from test_html import check_names, check_quiet, check_tabs, open_page, show_tab, tab_titles, visible

SCRIPT = "heap_steps.py"
KEPT = 20000
ARCHIVED = 4000
# In place of a variable's and a type's name: files come from anywhere.
VARIABLE = "</script><script>document.title='owned'</script>"
TYPE = "<img src=x onerror=document.title='owned'>&"


def tell(target, line):
    """Once the target has done it, and waits again."""
    target.stdin.write(line + "\n")
    target.stdin.flush()
    check_equal(target.stdout.readline(), "done\n", "the answer to %s" % line)
    wait_until(lambda: reads_input(target.pid), what="the target to wait for its input")


def look_into(target, path, *arguments):
    pieprofd("heap", target.pid, "-q", "-o", path, *arguments)


def difference(*arguments):
    return json.loads(pieprofd("heap", *arguments, "--format", "json").stdout)["heap_diff"]


def words_of(holder):
    return "".join(step["step"] for step in holder["path"])


def change(entry, member="count"):
    return entry[member][1] - entry[member][0]


def check_near(actual, expected, what):
    check(abs(actual - expected) <= 0.01 * expected, "%s: %d, expected %d" % (what, actual, expected))


def check_grown(diff):
    """The orders that were put in, the archive that was dropped, and nothing of note beside."""
    types = {entry["type"]: change(entry) for entry in diff["types"]}
    check_near(types["__main__.Order"], KEPT, "orders")
    check_near(types["__main__.Line"], 2 * KEPT, "lines")
    check_near(types["list"], KEPT, "lists")
    first, last = diff["holders"][0], diff["holders"][-1]
    check_equal((words_of(first), first["path"][-1]["type"]), ("__main__.cache{*}", "__main__.Order"), "what grew most")
    check_equal((change(first), change(first, "entries")), (KEPT, KEPT), "objects there")
    check_near(change(first, "held_count"), 7 * KEPT, "objects held")
    check_equal((words_of(last), last["presence"], change(last)), ("__main__.archive[*]", "gone", -ARCHIVED), "what is gone")
    changes = [change(holder, "bytes") for holder in diff["holders"]]
    check_equal(changes, sorted(changes, reverse=True), "the order of holders")
    check(all(abs(size) < changes[0] / 20 for size in changes[1:-1]), "others changed as well: %s" % changes)
    check_equal(diff["verdict"]["kind"], "objects", "the verdict")
    check_equal(diff["verdict"]["path"], first["path"], "path of the verdict")
    check_equal((diff["same_process"], diff["same_command"]), (True, True), "the process and its command line")
    check(0 < diff["seconds"] < 600, "%r seconds" % diff["seconds"])
    regions = diff["regions"]
    for side in range(2):
        check_equal(sum(sizes[side] for name, sizes in regions.items() if name != "rss_bytes"), regions["rss_bytes"][side],
                    "the sum of all regions")


def check_words(text):
    lines = text.splitlines()
    check(len(lines) <= 20, "more than 20 lines:\n%s" % text)
    check("more in Python objects than" in text and "__main__.cache{*} (__main__.Order)" in text, text)
    check("%+d" % KEPT in text and "gone: __main__.archive[*] (bytes)" in text, text)


def check_members(diff):
    known = manual_members("pieprofd-formats.5")["Differences of heaps"]
    compare("a difference of heaps", set(diff) | {"heap_diff"}, known)
    for part in ("base", "now", "verdict", "regions"):
        compare(part, set(diff[part]), known)
    for name in ("types", "holders"):
        for entry in diff[name]:
            compare(name, set(entry).union(*entry.get("path", ())), known)


def test_growth(one_interpreter):
    with tempfile.TemporaryDirectory(prefix="pieprofd-test-") as folder:
        base, now, whole = (os.path.join(folder, name) for name in ("base.json", "now.json", "whole.json"))
        with waiting_target(one_interpreter, SCRIPT) as (target, _):
            look_into(target, base)
            same = difference(target.pid, "--diff", base)
            tell(target, "keep %d" % KEPT)
            tell(target, "drop")
            look_into(target, now)
            live = difference("--diff", base, "--pid", target.pid)
        check_equal((same["verdict"]["kind"], same["holders"]), ("same", []), "what changed in nothing")
        check_grown(live)
        files = difference(now, "--diff", base)
        check_grown(files)
        check_members(files)
        check_equal(files["regions"], live["regions"], "regions of the file and of the process")
        check_words(pieprofd("heap", "--diff", base, now).stdout)
        back = difference(base, "--diff", now)
        check_equal((back["verdict"]["kind"], words_of(back["holders"][-1])), ("less", "__main__.cache{*}"), "the other way")
        # Not only what standard output has.
        pieprofd("heap", now, "--diff", base, "-q", "-o", whole)
        with open(whole) as file:
            check_equal(json.load(file)["heap_diff"], files, "the file")


def test_others(one_interpreter):
    """Another process of the same program; looks without holders."""
    with tempfile.TemporaryDirectory(prefix="pieprofd-test-") as folder:
        base, types = (os.path.join(folder, name) for name in ("base.json", "types.json"))
        with waiting_target(one_interpreter, SCRIPT) as (target, _):
            look_into(target, base)
            look_into(target, types, "--no-holders")
            without = difference(types, "--diff", base)
            check_equal((without["holders"], without["verdict"]["kind"]), (None, "same"), "a look without holders")
        with waiting_target(one_interpreter, SCRIPT) as (target, _):
            tell(target, "keep %d" % KEPT)
            diff = difference(target.pid, "--diff", base)
            text = pieprofd("heap", target.pid, "--diff", base).stdout
            run = pieprofd("heap", target.pid, "--diff", base + ".none", code=2)
            check("cannot be opened" in run.stderr and "-o NAME.json" in run.stderr, run.stderr)
        check_equal((diff["same_process"], diff["same_command"]), (False, True), "another process")
        check("another process, pid %d" % target.pid in text, text)
        check_near(next(change(entry) for entry in diff["types"] if entry["type"] == "__main__.Order"), KEPT, "orders")


def test_refusals():
    """What is no look, no whole one, or cannot be compared; of a real file."""
    with tempfile.TemporaryDirectory(prefix="pieprofd-test-") as folder:
        base, bad = (os.path.join(folder, name) for name in ("base.json", "bad.json"))
        with waiting_target(default_interpreter(), SCRIPT) as (target, _):
            look_into(target, base)
            for words, cause in ((("-d", 1), "does not go with -d"), (("-o", "x.folded"), "no difference as collapsed"),
                                 ((base,), "not with both")):
                run = pieprofd("heap", target.pid, "--diff", base, *words, code=2)
                check(cause in run.stderr, run.stderr)
        with open(base) as file:
            text = file.read()
        huge, larger = (text.replace('"rss_bytes": ', '"rss_bytes": ' + digits, 1) for digits in ("999999", "9" * 20))
        for content, code, cause in ((text[:len(text) // 2], 1, "cut off after %d bytes" % (len(text) // 2)),
                                     (huge, 1, "rss_bytes of regions is no number"), (larger, 1, "in line 1"),
                                     ("", 2, "it is empty"),
                                     ('{"lines": []}', 2, "it is other JSON"), ("no JSON\n", 2, "it is no JSON")):
            with open(bad, "w") as file:
                file.write(content)
            for words in ((base, "--diff", bad), (bad, "--diff", base)):
                run = pieprofd("heap", *words, code=code)
                check(cause in run.stderr and "-o NAME.json" in run.stderr, run.stderr)
                check_equal(run.stdout, "", "what is shown all the same")
        run = pieprofd("heap", base, code=2)
        check("--diff BASE.json" in run.stderr, run.stderr)
        run = pieprofd("heap", base, "--diff", folder, code=2)
        check("no regular file" in run.stderr, run.stderr)
        run = pieprofd("heap", base, "--diff", base, "--no-holders", code=2)
        check("stays what it was made" in run.stderr, run.stderr)


# ---- the page


def renamed(path):
    with open(path) as file:
        text = file.read()
    for name, other in (("__main__.cache", VARIABLE), ("__main__.Order", TYPE)):
        check('"%s"' % name in text, "no %s in %s" % (name, path))
        text = text.replace('"%s"' % name, json.dumps(other))
    with open(path, "w") as file:
        file.write(text)


def boxes(browser):
    """{words: (their class, their share of the width, the label)} of the flame graph."""
    return {words: (kind, float(width), label) for words, kind, width, label in browser.evaluate(
        "[...document.querySelectorAll('#graph .box')].map(e => [e.textContent, e.className, parseFloat(e.style.width), "
        "e.getAttribute('aria-label')])")}


def choose(browser, weight):
    browser.evaluate("(e => { e.value = %r; e.dispatchEvent(new Event('change')); })(document.getElementById('weight'))" % weight)


def check_flame(browser, diff):
    show_tab(browser, "Flame")
    kind, width, label = boxes(browser)["+ %s (dict)" % VARIABLE]
    check("grew" in kind and " before, " in label and label.endswith(" now"), "%s, %s" % (kind, label))
    choose(browser, "before")
    check(boxes(browser)["+ %s (dict)" % VARIABLE][1] < width / 2, "as wide before as now")
    kind, _, label = boxes(browser)["- __main__.archive (list)"]
    check("shrank" in kind, "the archive: %s, %s" % (kind, label))
    choose(browser, "objects")
    browser.evaluate("[...document.querySelectorAll('#graph .box')].find(e => e.textContent.startsWith('+ {*} (')).click()")
    counts = diff["holders"][0]["held_count"]
    check("%d objects before, %d objects now" % tuple(counts) in visible(browser, "#frame"), visible(browser, "#frame"))
    browser.press("Escape")


def first_cells(browser, table):
    return browser.evaluate("[...document.querySelectorAll('#%s tbody tr:first-child > *')].map(e => e.innerText)" % table)


def check_page(browser, page, diff):
    open_page(browser, page)
    check_equal(tab_titles(browser), ["Overview", "Flame", "Types"], "tabs")
    check(visible(browser, "#regions .headline") == diff["verdict"]["text"], visible(browser, "#regions .headline"))
    cells = first_cells(browser, "holder-table")
    check_equal((cells[0], cells[4]), ("%s{*} (%s)" % (VARIABLE, TYPE), "%+d" % KEPT), "the first holder")
    check_names(browser)
    check_flame(browser, diff)
    show_tab(browser, "Types")
    browser.evaluate("(e => { e.value = 'IMG'; e.dispatchEvent(new Event('input')); })(document.getElementById('type-filter'))")
    cells = first_cells(browser, "type-table")
    check_equal((cells[0], cells[4]), (TYPE, "%+d" % KEPT), "the type searched for")


def test_page():
    find_browser()
    with tempfile.TemporaryDirectory(prefix="pieprofd-test-") as folder:
        base, now, types, page, plain = (os.path.join(folder, name) for name in (
            "base.json", "now.json", "types.json", "x.html", "types.html"))
        with waiting_target(default_interpreter(), SCRIPT) as (target, _):
            look_into(target, base)
            tell(target, "keep %d" % KEPT)
            tell(target, "drop")
            look_into(target, now)
            look_into(target, types, "--no-holders")
        renamed(base)
        renamed(now)
        pieprofd("heap", now, "--diff", base, "-q", "-o", page)
        pieprofd("heap", types, "--diff", base, "-q", "-o", plain)
        with Browser() as browser:
            check_page(browser, Page(page), difference(now, "--diff", base))
            open_page(browser, Page(page), width=320, dark=True)
            check_tabs(browser, 320)
            browser.open(page, script=False)
            check(VARIABLE in visible(browser, "#holders") and TYPE in visible(browser, "#types"), "names without a script")
            check_equal(browser.evaluate("document.querySelectorAll('img').length"), 0, "elements of the file's")
            check("owned" not in browser.evaluate("document.title"), "the file's script ran")
            check_quiet(browser, Page(page))
            open_page(browser, Page(plain))
            check("has no holders" in visible(browser, "#holders"), "holders: %s" % visible(browser, "#holders"))
            check_equal(browser.problems, [], "what the browser complained of")
