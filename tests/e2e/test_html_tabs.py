# SPDX-License-Identifier: Apache-2.0
"""The HTML report's tabs, rendered from recordings: flame graph by all its switches, functions, source, links, changes,
a phone, and paper."""
import os
import shutil
import subprocess
import tempfile

from browser import Browser, find_browser
from harness import PIEPROFD, TARGETS, check, check_equal, default_interpreter
from test_html import HOT_LINE, check_names, check_quiet, open_page, show_tab, tab_titles, visible
from test_html_views import check_barriers, next_frame

BASE = """
import time
def spin(end):
    while time.monotonic() < end:
        sum(range(1000))
spin(time.monotonic() + 1.2)
"""
EDITOR = "my-editor:open?file={file}&line={line}&x=\"'<"
SOURCE_URL = "%s=https://git.example.org/app/{path}#L{line}"


# Each text is another one: nothing is repeated, but most time is under the line.
JSON = """
import json, time
texts = [json.dumps([{"number": i, "words": ["a", "b"] * 9}] * 40) for i in range(2000)]
end = time.monotonic() + 4
while time.monotonic() < end:
    for text in texts:
        rows = json.loads(text)
"""


class Made:
    """A page made of a recording."""

    def __init__(self, folder, name, *arguments):
        self.path = os.path.join(folder, name)
        run = subprocess.run([PIEPROFD, "report", *arguments, "-o", self.path], capture_output=True, text=True,
                             timeout=60, check=False)
        check_equal(run.returncode, 0, "status of report, of %s" % run.stderr)


def record(path, *command, options=()):
    subprocess.run([PIEPROFD, "-q", "-d", "3", *options, "-o", path, "--", default_interpreter().path, *command],
                   capture_output=True, timeout=60, check=False)
    check(os.path.exists(path), "no recording of %s" % " ".join(command))


def labels(browser):
    next_frame(browser)
    return browser.evaluate("[...document.querySelectorAll('#graph .box')].map(e => e.getAttribute('aria-label'))")


def choose(browser, identifier, value):
    what = "e.checked = %s" % ("true" if value else "false") if isinstance(value, bool) else "e.value = %r" % value
    browser.evaluate("(e => (%s, e.dispatchEvent(new Event('change'))))(document.getElementById(%r))" % (what, identifier))


def check_flame(browser):
    show_tab(browser, "Flame")
    found = labels(browser)
    check(any(", native," in label for label in found), "no native frames in %s" % found)
    check("<module>" in found[1], "the outermost frame: %s" % found[1])
    check(any("Convolution.backprop (conv_backprop.py:" in label for label in found), "no lines in %s" % found)
    choose(browser, "native-frames", False)
    check(not any(", native," in label for label in labels(browser)), "native frames: %s" % labels(browser))
    choose(browser, "grouping", "function")
    check(any(label.startswith("Convolution.backprop (conv_backprop.py),") for label in labels(browser)), "by function: %s" % labels(browser))
    choose(browser, "direction", "up")
    found = labels(browser)
    check("backprop" in found[1], "the innermost with most time: %s" % found)
    check(any(label.startswith("<module>") for label in found[2:]), "no callers in %s" % found)
    choose(browser, "direction", "down")
    # Callers above, callees below, by keys alone.
    browser.evaluate("[...document.querySelectorAll('#graph .box')].find(e => e.textContent.startsWith('Convolution.backprop (')).focus()")
    browser.press("c")
    check("Callers of Convolution.backprop" in visible(browser, "#sandwich-note"), "note: %s" % visible(browser, "#sandwich-note"))
    top = "parseFloat(document.activeElement.style.top)"
    own = browser.evaluate(top)
    check(own > 0, "nothing above it")
    browser.press("ArrowUp")
    check(browser.evaluate(top) < own, "its caller is not above it")
    browser.press("Escape")
    check_equal(visible(browser, "#sandwich-note"), "", "the note, when that is left")
    choose(browser, "native-frames", True)
    choose(browser, "grouping", "line")


def check_tip(browser):
    box = browser.page.locator("#graph .box").nth(2)
    box.scroll_into_view_if_needed()
    at = box.bounding_box()
    browser.page.mouse.move(at["x"] + 5, at["y"] + 5)
    check("%" in visible(browser, "#tip"), "the tip: %r" % visible(browser, "#tip"))
    tip = browser.evaluate("(b => [b.left, b.top])(document.getElementById('tip').getBoundingClientRect())")
    check(abs(tip[1] - at["y"]) < 80, "the tip is at %s, the pointer at %s" % (tip, at))
    browser.page.mouse.move(0, 0)
    check_equal(visible(browser, "#tip"), "", "the tip, with the pointer elsewhere")


def check_functions(browser):
    check("backprop" in visible(browser, "#function-table tbody"), "functions: %s" % visible(browser, "#function-table"))
    browser.press("/")
    check_equal(browser.evaluate("document.activeElement.id"), "function-filter", "what / goes to")
    browser.press(*"backprop")
    rows = browser.evaluate("[...document.querySelectorAll('#function-table tbody tr')].map(e => e.textContent)")
    check(rows and all("backprop" in row for row in rows), "found: %s" % rows)
    titles = browser.evaluate("[...document.querySelectorAll('#function-table thead th')].map(e => e.textContent)")
    for i, title in list(enumerate(titles))[1:]:
        cells = browser.evaluate("[...document.querySelectorAll('#function-table tbody tr')].map(e => e.children[%d].textContent)" % i)
        check(any(cell not in ("-", "0.0%", "") for cell in cells) or len(rows) == 1, "column %s is empty: %s" % (title, cells))
    browser.evaluate("document.querySelector('#function-table .around').click()")
    check("Callers of" in visible(browser, "#sandwich-note"), "the button leads nowhere")
    browser.evaluate("document.getElementById('zoom-out').click()")


def check_source(browser):
    text = visible(browser, "#source-list")
    check(HOT_LINE in text, "no hot line in %s" % text)
    # The whole function, with lines that no sample fell on.
    check("def backprop(" in text, "no head of its function in %s" % text)
    first = browser.evaluate("document.querySelector('#source-list summary').textContent")
    check("conv_backprop.py" in first and "library" not in first, "the first file: %s" % first)
    browser.evaluate("document.getElementById('hottest').click()")
    chosen = browser.evaluate("document.querySelector('#source .chosen').textContent")
    check(HOT_LINE in chosen, "the hottest line: %s" % chosen)
    widths = browser.evaluate("[...document.querySelectorAll('#source .chosen .heat span')].map(e => e.offsetWidth)")
    check(widths and max(widths) > 10, "parts of its bar: %s" % widths)
    # From the table of lines.
    browser.evaluate("document.querySelector('#line-table tbody a.where').click()")
    check(browser.evaluate("document.querySelector('#source .chosen').checkVisibility()"), "the place of a line is not shown")


def check_links(browser, target):
    links = browser.evaluate("[...document.querySelectorAll('#line-table tbody a.outer')].map(e => e.getAttribute('href'))")
    check(len(links) >= 2, "links: %s" % links)
    for link in links:
        check(link.startswith(("my-editor:open?file=/", "https://git.example.org/app/")), "a link: %s" % link)
        check("{" not in link, "a name in %s was left" % link)
    check(any(link.startswith("https://git.example.org/app/%s#L" % os.path.basename(target)) for link in links),
          "none leads into the repository: %s" % links)


def check_changes(browser):
    check("spin" in visible(browser, "#changes") or "backprop" in visible(browser, "#changes"),
          "changes: %s" % visible(browser, "#changes"))
    check("%" in visible(browser, "#changes .headline"), "headline: %s" % visible(browser, "#changes .headline"))
    show_tab(browser, "Flame")
    found = labels(browser)
    check("before" in found[0] and "now" in found[0], "the first frame: %s" % found[0])
    check(browser.evaluate("document.querySelectorAll('#graph .grew').length") > 0, "nothing grew: %s" % found)
    choose(browser, "weight", "before")
    check(any(label.startswith("spin") for label in labels(browser)), "widths of before: %s" % labels(browser))
    check(browser.evaluate("document.querySelectorAll('#graph .shrank').length") > 0, "nothing shrank")
    check_equal(visible(browser, "#range-bar"), "", "the bar of a range")


def check_paper(browser):
    browser.page.emulate_media(media="print")
    for section in ("verdict", "threads", "source", "functions"):
        check(browser.evaluate("document.getElementById(%r).checkVisibility()" % section), "%s is not on paper" % section)
    browser.page.emulate_media(media="screen")


def test_tabs():
    find_browser()
    folder = tempfile.mkdtemp(prefix="pieprofd-test-")
    target = os.path.join(TARGETS, "conv_backprop.py")
    try:
        recording, base = os.path.join(folder, "now.pieprof"), os.path.join(folder, "base.pieprof")
        record(recording, target, "--seconds", "3")
        record(base, "-c", BASE)
        page = Made(folder, "now.html", recording, "--editor", EDITOR, "--source-url", SOURCE_URL % os.path.dirname(target))
        changes = Made(folder, "changes.html", recording, "--diff", base)
        with Browser() as browser:
            open_page(browser, page)
            check_equal(tab_titles(browser), ["Overview", "Flame", "Functions", "Source", "Threads", "Pairs"], "tabs")
            check_flame(browser)
            check_tip(browser)
            check_functions(browser)
            check_source(browser)
            check_links(browser, target)
            check_paper(browser)
            check_names(browser)
            check_quiet(browser, page)
            open_page(browser, page, width=360, height=740, touch=True)
            check_barriers(browser, "on a phone")
            browser.requests.clear()
            open_page(browser, changes, dark=True)
            check_changes(browser)
            check_barriers(browser, "changes")
            check_quiet(browser, changes)
    finally:
        shutil.rmtree(folder)


def test_slow_pattern():
    """A way to write a line that is known to be slow, of which no saving is known, is a finding as all others."""
    find_browser()
    folder = tempfile.mkdtemp(prefix="pieprofd-test-")
    try:
        recording = os.path.join(folder, "x.pieprof")
        program = os.path.join(folder, "parse.py")
        with open(program, "w", encoding="utf-8") as file:
            file.write(JSON)
        record(recording, program, options=("--mode", "time"))
        page = Made(folder, "x.html", recording)
        with Browser() as browser:
            open_page(browser, page)
            check_equal(visible(browser, "#problem"), "", "a problem of the page")
            check("keep the outcome" in visible(browser, "#verdict"), "verdict: %s" % visible(browser, "#verdict"))
            found = visible(browser, "#redundant-list")
            for words in ("Keep the outcome", "For example: if text != last", "was not measured"):
                check(words in found, "%s is not in %s" % (words, found))
            # What comes behind it in the script.
            check("json.loads(text)" in visible(browser, "#source-list"), "no source: %s" % visible(browser, "#source-list"))
            check_quiet(browser, page)
    finally:
        shutil.rmtree(folder)
