# SPDX-License-Identifier: Apache-2.0
"""The HTML report's larger views: a part of the run, barriers that axe-core finds, trees of 100,000 nodes."""
import base64
import gzip
import json
import os
import re
from random import Random

from browser import Browser, find_browser
from harness import Target, check, check_equal, check_sampled, default_interpreter
from test_html import HOT_LINE, Page, check_quiet, open_page, show_tab, visible

NODES = 100000
# What the page may have in all, whatever the profile's size; see BOXES_MAX in flame.js.
ELEMENTS_MAX = 12000

SECONDS = r"\(([0-9.]+) (s|ms|us|ns)\)"
UNITS = {"s": 1, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}


def next_frame(browser):
    browser.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")


def shown_seconds(browser):
    """CPU time of what is shown, as the outermost frame has it, in seconds."""
    next_frame(browser)
    browser.evaluate("document.querySelector('#graph .root').dispatchEvent(new Event('mouseover', {bubbles: true}))")
    found = re.search(SECONDS, visible(browser, "#frame"))
    check(found, "no time in %s" % visible(browser, "#frame"))
    return float(found.group(1)) * UNITS[found.group(2)]


def found_by_search(browser, text):
    next_frame(browser)
    return browser.evaluate("(e => (e.value = %r, e.dispatchEvent(new Event('input')), "
                            "document.getElementById('found').textContent))(document.getElementById('search'))" % text)


def shares(browser, column):
    """Of the table of threads, by name without number."""
    rows = browser.evaluate("[...document.querySelectorAll('#thread-table tbody tr')].map(r => "
                            "[r.children[0].textContent, r.children[%d].textContent])" % column)
    return {name.split()[0]: float(share.rstrip("%")) for name, share in rows}


def focus(browser, element):
    browser.evaluate("(e => (reveal(e), e.focus()))(document.getElementById(%r))" % element)


def check_first_part(browser):
    """The part of the run in which work_first ran, and nothing else did."""
    busy = browser.evaluate("document.getElementById('processors').textContent")
    check(0 < float(busy.split()[0]) <= os.cpu_count(), "processors kept busy: %s of %d" % (busy, os.cpu_count()))
    check("Only 0." in visible(browser, "#range-bar"), "the bar: %s" % visible(browser, "#range-bar"))
    check("%" in found_by_search(browser, "work_first"), "work_first is not in its own part")
    second = found_by_search(browser, "work_second")
    check_sampled(second == "Nothing found", "work_second in the first part: %s" % second)
    lines = visible(browser, "#line-table tbody")
    check("work_first(middle)" in lines and "work_second(end)" not in lines, "lines of the first part: %s" % lines)
    # Its start may have been met.
    check_sampled(shares(browser, 1)["beside"] < 1, "share of a thread that slept: %s" % shares(browser, 1))


def check_keys(browser):
    whole = shown_seconds(browser)
    focus(browser, "range-to")
    browser.press(*["PageDown"] * 7)
    first = shown_seconds(browser)
    check_first_part(browser)
    check_equal(round(sum(shares(browser, 1).values())), 100, "shares of all threads")
    end = browser.evaluate("document.getElementById('range-to').value")
    focus(browser, "range-to")
    browser.press("End")
    check_equal(visible(browser, "#range-bar"), "", "the bar, with the whole run shown")
    focus(browser, "range-from")
    browser.evaluate("(e => (e.value = %s, e.dispatchEvent(new Event('input'))))(document.activeElement)" % end)
    rest = shown_seconds(browser)
    # Each is rounded to three digits.
    check(abs(first + rest - whole) <= 0.02 * whole, "%g s and %g s of %g s" % (first, rest, whole))
    focus(browser, "range-from")
    browser.press("End")
    browser.press(*["PageDown"] * 2)
    check_equal(found_by_search(browser, "work_first"), "Nothing found", "work_first in the last part")
    check("%" in found_by_search(browser, "work_second"), "work_second is not in its own part")
    check(shares(browser, 1)["beside"] > 10, "share of a thread that works: %s" % shares(browser, 1))
    focus(browser, "whole-run")
    browser.press("Enter")
    check_equal(shown_seconds(browser), whole, "CPU time of the whole run again")


def check_one_thread(browser):
    whole = shown_seconds(browser)
    choose = ("(e => (e.value = [...e.options].find(o => o.textContent.startsWith(%r)).value, "
              "e.dispatchEvent(new Event('change'))))(document.getElementById('one-thread'))")
    check("%" in found_by_search(browser, "work_first"), "work_first is not there")
    browser.evaluate(choose % "beside")
    check(0 < shown_seconds(browser) < whole, "%g s of %g s" % (shown_seconds(browser), whole))
    check_equal(found_by_search(browser, "work_first"), "Nothing found", "the main thread's work in another thread")
    browser.evaluate(choose % "all")
    check_equal(shown_seconds(browser), whole, "CPU time of all threads again")


def test_part_of_run():
    find_browser()
    with Target(default_interpreter(), "phases.py", "--phase", 3) as target:
        with Page(target.pid, "-d", 5.8, "--mode", "time", "--engine", "ptrace") as page, Browser() as browser:
            for width in (1440, 320):
                open_page(browser, page, width=width, touch=True)
                browser.evaluate("document.querySelector('#threads details').open = true")
                check_equal(browser.evaluate("document.documentElement.scrollWidth"), width, "width of the page")
                for touch in (False, True):
                    show_tab(browser, "Threads")
                    browser.drag("#heat", 0.02, 0.3, touch)
                    check_first_part(browser)
                    browser.evaluate("document.getElementById('whole-run').click()")
                check_keys(browser)
                check_one_thread(browser)
            check_quiet(browser, page)
        check("ok" in target.finish(), "the target's last line")


def check_barriers(browser, what):
    from axe_playwright_python.sync_playwright import Axe
    # All tabs at once.
    browser.evaluate("document.querySelectorAll('.panel').forEach(e => e.classList.remove('off'))")
    found = Axe().run(browser.page)
    check(not found.violations_count, "barriers, %s: %s" % (what, found.generate_report()))


def test_barriers():
    """By axe-core's rules, everything opened, zoomed, searched, and a part of the run chosen."""
    find_browser()
    with Target(default_interpreter(), "threads.py", "--threads", 4, "--seconds", 60) as target:
        with Page(target.pid, "-d", 3) as page, Browser() as browser:
            for width, dark in ((1440, False), (1440, True), (320, False), (320, True)):
                what = "%d px, %s" % (width, "dark" if dark else "light")
                open_page(browser, page, width=width, dark=dark)
                # Three of a kind stand for the rest.
                browser.evaluate("document.querySelectorAll('details').forEach(e => "
                                 "e.open = e.matches(':nth-of-type(-n + 3)'))")
                focus(browser, "range-from")
                browser.press("PageUp")
                found_by_search(browser, "numpy")
                browser.evaluate("document.querySelectorAll('#graph .box')[3].click()")
                next_frame(browser)
                check(visible(browser, "#range-bar"), "no part of the run is chosen")
                check_barriers(browser, what)
            # As it was loaded without script; axe-core's own is run after that.
            session = browser.page.context.new_cdp_session(browser.page)
            session.send("Emulation.setScriptExecutionDisabled", {"value": True})
            browser.page.reload()
            session.send("Emulation.setScriptExecutionDisabled", {"value": False})
            check("Without JavaScript" in visible(browser, "noscript"), "the page's script ran")
            check_barriers(browser, "without script")


def large_tree(count):
    """As html_tree.c writes them: branches of all sizes, time in every node, in ten slices."""
    random = Random(1)
    depth = []
    pending = [(count, 0)]
    while pending:
        size, level = pending.pop()
        depth.append(level)
        size -= 1
        while size > 0:
            part = max(1, int(size * random.uniform(0.2, 0.8))) if level < 60 and size > 1 else 1
            pending.append((part, level + 1))
            size -= part
    frames = [[i % 2, "function_%d" % i, "/srv/file_%d.py" % (i % 50), 0 if i % 2 else i] for i in range(5000)]
    numbers = range(count)
    python, native, system = [1000 * (i % 3) for i in numbers], [1000] * count, [500 * (i % 2) for i in numbers]
    return {
        "lines_omitted": 0, "advice": {}, "frames": frames, "depth": depth, "frame": [i * 7 % 5000 for i in numbers],
        "python": python, "native": native, "system": system, "slice_ns": 500000000, "slice_count": 10,
        "slices": {"node": list(numbers), "slice": [i % 10 for i in numbers],
                   "python": python, "native": native, "system": system},
    }


def put_tree(page, tree):
    """Takes the place of the page's own tree, packed as html_data.c does."""
    put_packed_tree(page, gzip.compress(json.dumps(tree, separators=(",", ":")).encode()))


def put_packed_tree(page, packed):
    with open(page.path, encoding="utf-8") as file:
        text = file.read()
    text, times = re.subn(r'<script type="application/[a-z]+" id="tree-data">[^<]*</script>',
                          '<script type="application/gzip" id="tree-data">%s</script>' %
                          base64.b64encode(packed).decode(), text)
    check_equal(times, 1, "trees in the page")
    with open(page.path, "w", encoding="utf-8") as file:
        file.write(text)


def test_large_tree():
    find_browser()
    with Target(default_interpreter(), "conv_backprop.py", "--seconds", 60) as target:
        with Page(target.pid, "-d", 3) as page, Browser() as browser:
            open_page(browser, page)
            check(HOT_LINE in visible(browser, "#line-table tbody"), "the hot line is not in the table")
            put_tree(page, large_tree(NODES))
            open_page(browser, page)
            show_tab(browser, "Flame")
            # What is too narrow is one frame, which can be zoomed to.
            rest = "[...document.querySelectorAll('#graph .rest')]"
            check(browser.evaluate(rest + ".length") > 0, "no frame stands for several")
            words = browser.evaluate("(e => (e.click(), e.getAttribute('aria-label')))(%s[0])" % rest)
            check(re.match("[0-9]+ more, ", words), "of several: %s" % words)
            check(browser.evaluate("document.activeElement.getAttribute('aria-label')") == words, "it is not zoomed to")
            check(browser.evaluate("document.querySelectorAll('#graph .box:not(.above)').length") > 2, "nothing is in it")
            browser.evaluate("document.querySelector('#graph .root').click()")
            elements = "document.querySelectorAll('*').length"
            for _ in range(2):
                boxes = browser.evaluate("document.querySelectorAll('#graph .box').length")
                check(100 < boxes, "%d frames in the graph" % boxes)
                check(browser.evaluate(elements) < ELEMENTS_MAX, "%d elements" % browser.evaluate(elements))
                # All of it is searched, not what is drawn alone.
                found = int(found_by_search(browser, "function_").split()[-2])
                check(found > NODES / 20, "%d frames found" % found)
                focus(browser, "range-to")
                browser.press("PageDown")
                next_frame(browser)
            check("only" in visible(browser, "#range-bar").lower(), "no part of the run is chosen")
            check_quiet(browser, page)
            # What is broken is said; the rest stays.
            put_packed_tree(page, gzip.compress(b"x" * 1000)[:-9])
            open_page(browser, page)
            check("cannot be read" in visible(browser, "#problem"), "the problem: %s" % visible(browser, "#problem"))
            check(HOT_LINE in visible(browser, "#line-table"), "no hot line in the table")
            check_quiet(browser, page)
