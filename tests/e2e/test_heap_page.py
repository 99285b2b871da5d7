# SPDX-License-Identifier: Apache-2.0
"""The page of a look at a heap in a real browser: what it shows, on a wide and on a narrow screen, of hostile names too."""
import json
import os
import re
import tempfile

from browser import Browser, find_browser
from harness import check, check_equal, default_interpreter, pieprofd
from test_dump import waiting_target
from test_html import check_names, check_quiet, check_tabs, open_page, show_tab, tab_titles, visible

VARIABLE = "evil;</script><script>document.title='owned'</script>.cache"
TYPE = "<img src=x onerror=document.title='owned'>\\u202e&\"'"


class Page:
    def __init__(self, path):
        self.path = path


def check_regions(browser, heap):
    """The bar's parts and the table's add up to what is in RAM."""
    widths = browser.evaluate("[...document.querySelectorAll('svg.regions rect')].map(e => parseFloat(e.getAttribute('width')))")
    check_equal(len(widths), 8, "parts of the bar")
    check(abs(sum(widths) - 100) < 0.1, "widths of the bar: %s" % widths)
    regions = heap["regions"]
    check(abs(widths[0] - 100 * regions["objects_bytes"] / regions["rss_bytes"]) < 0.1, "the share of objects")
    shown = visible(browser, "#regions .headline")
    check_equal(shown, "%.1f MB in RAM" % (regions["rss_bytes"] / 1e6), "what is in RAM")


def check_flame(browser):
    show_tab(browser, "Flame")
    boxes = "[...document.querySelectorAll('#graph .box')].map(e => e.getAttribute('aria-label'))"
    labels = browser.evaluate(boxes)
    check(any(label.startswith(VARIABLE + " (list)") for label in labels), "the holder is not in %s" % labels[:20])
    check("3000 objects" not in visible(browser, "#frame"), "bytes and objects are mixed")
    browser.evaluate("(e => { e.value = 'objects'; e.dispatchEvent(new Event('change')); })(document.getElementById('weight'))")
    browser.evaluate("[...document.querySelectorAll('#graph .box')].find(e => e.textContent.startsWith('[*] (')).click()")
    check(re.search(r"\(600\d objects\)", visible(browser, "#frame")), "described as %s" % visible(browser, "#frame"))
    browser.press("Escape", "/")
    check_equal(browser.evaluate("document.activeElement.id"), "search", "what / goes to")
    browser.press(*"img src")
    check("of the live objects" in visible(browser, "#found"), "found: %s" % visible(browser, "#found"))


def check_tables(browser):
    show_tab(browser, "Types")
    browser.evaluate("(e => { e.value = 'IMG'; e.dispatchEvent(new Event('input')); })(document.getElementById('type-filter'))")
    cells = browser.evaluate("[...document.querySelectorAll('#type-table tbody tr:first-child > *')].map(e => e.innerText)")
    check_equal((cells[0], cells[2]), (TYPE, "3000"), "the type searched for")
    show_tab(browser, "Overview")
    holders = browser.evaluate("[...document.querySelectorAll('#holder-table tbody tr:first-child > *')].map(e => e.innerText)")
    check(holders[0].startswith(VARIABLE + "[*]"), "the first holder: %s" % holders)


def test_page():
    find_browser()
    with tempfile.TemporaryDirectory(prefix="pieprofd-test-") as folder:
        page, types, collapsed, whole = (os.path.join(folder, name) for name in ("x.html", "types.html", "x.folded", "x.json"))
        with waiting_target(default_interpreter(), "heap_names.py", "<b>owned</b>") as (target, _):
            pieprofd("heap", target.pid, "-q", "-o", page, "-o", collapsed, "-o", whole)
            pieprofd("heap", target.pid, "-q", "--no-holders", "-o", types)
        with open(whole) as file:
            heap = json.load(file)["heap"]
        with Browser() as browser:
            for width, dark in ((1440, False), (320, True)):
                open_page(browser, Page(page), width=width, dark=dark)
                check_regions(browser, heap)
                check_tabs(browser, width)
                check_equal(tab_titles(browser), ["Overview", "Flame", "Types"], "tabs")
                check_names(browser)
                check_flame(browser)
                check_tables(browser)
                check("<b>owned</b>" in visible(browser, "header"), "the command: %s" % visible(browser, "header"))
            browser.open(page, script=False)
            check(VARIABLE in visible(browser, "#holders") and TYPE in visible(browser, "#types"), "names without a script")
            check_equal(visible(browser, "#flame"), "", "the flame graph's section")
            check_equal(browser.evaluate("document.querySelectorAll('img, b').length"), 0, "elements of the target's")
            check("owned" not in browser.evaluate("document.title"), "the target's script ran")
            check_quiet(browser, Page(page))
            open_page(browser, Page(types))
            check("not looked for" in visible(browser, "#holders"), "holders: %s" % visible(browser, "#holders"))
            check_equal(browser.problems, [], "what the browser complained of")
        with open(collapsed, encoding="utf-8") as file:
            text = file.read()
        check("evil\\x3b</script>" in text and ".right\\u202eleft (str) " in text, "collapsed names")
