# SPDX-License-Identifier: Apache-2.0
"""The HTML report in a real browser: nothing asked for, nothing complained of, the keyboard, hostile names, no script."""
import os
import shutil
import tempfile
import textwrap

from browser import Browser, find_browser
from harness import Target, check, check_equal, default_interpreter, pieprofd

HOT_LINE = "g[f] += d[i, j, f] * r"
# A file name has no slash, so that the closing tag is in its folder's and its own name.
HOSTILE_FOLDER = "<img src=x onerror=document.title='owned'><"
HOSTILE_NAME = "script>&amp;\"'\u2028\u202e.py"
HOSTILE = HOSTILE_FOLDER + "/" + HOSTILE_NAME


class Page:
    """A report of a target, in a folder of its own."""

    def __init__(self, pid, *arguments):
        self.folder = tempfile.mkdtemp(prefix="pieprofd-test-")
        self.path = os.path.join(self.folder, "p.html")
        try:
            pieprofd("--pid", pid, "-q", "-o", self.path, *arguments)
        except BaseException:
            shutil.rmtree(self.folder)
            raise

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        shutil.rmtree(self.folder)


def open_page(browser, page, **how):
    """Until its script is done, which inflates the data behind the page's load."""
    browser.open(page.path, **how)
    browser.evaluate("new Promise(done => { const look = () => document.getElementById('flame').hidden && "
                     "document.getElementById('problem').hidden ? setTimeout(look, 5) : done(); look(); })")


def check_quiet(browser, page):
    check_equal(browser.problems, [], "what the browser complained of")
    check_equal(set(browser.requests), {"file://" + page.path}, "what the page asked for")


def show_tab(browser, title):
    """As a click does; no such tab, or no script: nothing happens."""
    browser.evaluate("(e => e && e.click())([...document.querySelectorAll('#tabs [role=tab]')].find(e => "
                     "e.textContent === %r))" % title)


def visible(browser, selector):
    """The text of an element as it is shown, in its tab; an element that is not there, or hidden, has none."""
    return browser.evaluate(
        "(e => { const panel = e && e.closest('.panel.off'), tab = panel && document.getElementById("
        "panel.getAttribute('aria-labelledby')); if (tab) tab.click(); "
        "return e && e.checkVisibility() ? e.innerText : ''; })(document.querySelector(%r))" % selector)


def tab_titles(browser):
    return browser.evaluate("[...document.querySelectorAll('#tabs [role=tab]')].filter(e => e.checkVisibility())"
                            ".map(e => e.textContent)")


def check_tabs(browser, width):
    """Each fits into the window's width, and none is endless."""
    for title in tab_titles(browser):
        show_tab(browser, title)
        check_equal(browser.evaluate("document.documentElement.scrollWidth"), width, "width of " + title)
        height = browser.evaluate("document.documentElement.scrollHeight")
        check(height < 15000, "%s is %d pixels high" % (title, height))
        check_equal(browser.evaluate(CONTRAST), [], "text of little contrast in " + title)


def check_layout(browser, width):
    show_tab(browser, "Flame")
    graph = browser.evaluate("document.querySelectorAll('#graph .box').length")
    check(graph > 5, "%s frames in the graph" % graph)
    kinds = browser.evaluate("[...new Set([...document.querySelectorAll('#graph .box')].map(e => "
                             "e.classList[1]))].sort().join()")
    check("native" in kinds and "python" in kinds, "kinds of frames: %s" % kinds)


def check_keyboard(browser):
    """Through the graph by keys alone."""
    focused = "document.activeElement.dataset.node"
    show_tab(browser, "Overview")
    browser.evaluate("document.querySelector('#tabs [aria-selected=true]').focus()")
    browser.press("ArrowRight")
    check_equal(browser.evaluate("document.activeElement.textContent"), "Flame", "the next tab")
    browser.press("/")
    check_equal(browser.evaluate("document.activeElement.id"), "search", "what / goes to")
    browser.press("Tab", "Tab")  # the zoom-out button is disabled
    check_equal(browser.evaluate(focused), "0", "the first stop in the graph")
    seen = []
    for _ in range(4):
        browser.press("ArrowDown")
        seen.append(browser.evaluate(focused))
    check_equal(len(set(seen)), 4, "different frames on the way down, of %s" % seen)
    browser.press("Enter")
    check_equal(browser.evaluate(focused), seen[3], "the frame zoomed to")
    zoomed = "document.querySelectorAll('#graph .above').length"
    check_equal(browser.evaluate(zoomed), 4, "frames above the one zoomed to")
    browser.press("ArrowUp")
    check_equal(browser.evaluate(focused), seen[2], "its caller")
    browser.press(*["Escape"] * 4)
    check_equal(browser.evaluate(zoomed), 0, "frames above the outermost")
    browser.evaluate("document.getElementById('search').focus()")
    browser.press(*"backprop")
    check("of the CPU time" in visible(browser, "#found"), "found: %s" % visible(browser, "#found"))
    check(browser.evaluate("document.querySelectorAll('#graph .match').length") > 0, "nothing is marked")


def check_table(browser):
    column = "[...document.querySelectorAll('#line-table tbody tr')].map(r => parseFloat(r.children[%d].textContent))"
    check_equal(browser.evaluate("document.querySelector('[aria-sort]').textContent"), "Self", "sorted by")
    self_times = browser.evaluate(column % 1)
    check_equal(self_times, sorted(self_times, reverse=True), "self times")
    show_tab(browser, "Overview")
    titles = browser.evaluate("[...document.querySelectorAll('#line-table thead button')].map(e => e.textContent)")
    total = titles.index("Total")
    browser.evaluate("document.querySelectorAll('#line-table thead button')[%d].focus()" % total)
    browser.press("Enter")
    totals = browser.evaluate(column % total)
    check_equal(totals, sorted(totals, reverse=True), "totals")
    browser.press("Enter")
    check_equal(browser.evaluate("document.querySelector('[aria-sort]').getAttribute('aria-sort')"), "ascending",
                "order after the second time")


def check_names(browser):
    """Everything that can be operated has a name, every table its headers; ids are unique."""
    check_equal(browser.evaluate(
        "[...document.querySelectorAll('a,button,input,[role=treeitem],[role=region],summary')].filter(e => "
        "!(e.getAttribute('aria-label') || e.getAttribute('aria-labelledby') || e.textContent || "
        "(e.labels && e.labels.length))).map(e => e.outerHTML)"), [], "elements without a name")
    check_equal(browser.evaluate(
        "[...document.querySelectorAll('table')].filter(t => !t.querySelector('thead th[scope=col]')).length"), 0,
        "tables without headers")
    check_equal(browser.evaluate(
        "(ids => ids.filter((id, i) => ids.indexOf(id) !== i))([...document.querySelectorAll('[id]')].map(e => e.id))"),
        [], "ids that are there twice")


# By WCAG's formula, of all text against the nearest background; patterns are checked by their lightest and darkest.
CONTRAST = """
(() => {
    const numbers = text => text.match(/[0-9.]+/g).map(Number);
    const light = colour => numbers(colour).slice(0, 3).map(c => c / 255)
        .map(c => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)
        .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
    const behind = element => {
        const colours = [];
        for (; element; element = element.parentElement) {
            const style = getComputedStyle(element);
            colours.push(...(style.backgroundImage.match(/rgb\\([^)]*\\)/g) || []));
            if (!/, 0\\)/.test(style.backgroundColor))
                return colours.concat(style.backgroundColor);
        }
        return colours.concat('rgb(255, 255, 255)');
    };
    const poor = [];
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
        const element = walker.currentNode.parentElement;
        if (!walker.currentNode.data.trim() || !element.checkVisibility() || element.disabled)
            continue;
        const text = light(getComputedStyle(element).color);
        for (const colour of behind(element)) {
            const back = light(colour);
            const ratio = (Math.max(text, back) + 0.05) / (Math.min(text, back) + 0.05);
            if (ratio < 4.5)
                poor.push(walker.currentNode.data.trim().slice(0, 30) + ' on ' + colour + ': ' + ratio.toFixed(2));
        }
    }
    return poor.slice(0, 5);
})()
"""


def check_without_script(browser, page):
    browser.open(page.path, script=False)
    # Playwright's own evaluation still works.
    check(visible(browser, "#verdict .headline"), "no verdict")
    check(HOT_LINE in visible(browser, "#line-table"), "no hot line in the table")
    check("stops of one thread" in visible(browser, "#quality"), "no data quality")
    check("MainThread" in visible(browser, "#thread-table"), "no threads: %s" % visible(browser, "#thread-table"))
    check_equal(visible(browser, "#flame"), "", "the flame graph's section")


def test_page():
    find_browser()
    with Target(default_interpreter(), "conv_backprop.py", "--seconds", 60) as target:
        with Page(target.pid, "-d", 5) as page, Browser() as browser:
            check(os.path.getsize(page.path) > 10000, "the page is small")
            for width, dark in ((1440, False), (1440, True), (320, False), (320, True)):
                open_page(browser, page, width=width, dark=dark)
                check_layout(browser, width)
                check_tabs(browser, width)
                check("CPU time" in visible(browser, "#verdict"), "verdict: %s" % visible(browser, "#verdict"))
                check(HOT_LINE in visible(browser, "#line-table tbody"), "the hot line is not in the table")
                check(HOT_LINE in visible(browser, "#source-list"), "the hot line is not among the sources")
                for section in ("threads", "flame", "redundant", "pairs", "quality"):
                    check(visible(browser, "#" + section), "section %s is hidden" % section)
            open_page(browser, page)
            check_names(browser)
            check_keyboard(browser)
            check_table(browser)
            check_equal(browser.evaluate("document.title"), "conv_backprop.py, 5 s on %s, %s - pieprofd" % (
                os.uname().nodename, browser.evaluate("document.title").rsplit(", ", 1)[1].split(" - ")[0]), "title")
            check_without_script(browser, page)
            check_quiet(browser, page)


def test_page_hostile():
    find_browser()
    folder = tempfile.mkdtemp(prefix="pieprofd-test-")
    path = os.path.join(folder, HOSTILE)
    os.mkdir(os.path.dirname(path))
    try:
        with open(path, "w", encoding="utf-8") as file:
            file.write(textwrap.dedent("""\
                import threading, time
                threading.current_thread().name = "<img src=x>\\u202e&"
                def burn(end):
                    while time.monotonic() < end:
                        sum(range(1000)); "</script><script>document.title='owned'</script>"
                print("ready", flush=True)
                burn(time.monotonic() + 60)
            """))
        with Target(default_interpreter(), path) as target:
            with Page(target.pid, "-d", 3) as page, Browser() as browser:
                for script in (True, False):
                    (open_page if script else lambda b, p: b.open(p.path, script=False))(browser, page)
                    shown = HOSTILE_NAME.replace("\u2028", "\\u2028").replace("\u202e", "\\u202e")
                    check(shown in visible(browser, "#line-table tbody"),
                          "the name in %s" % visible(browser, "#line-table tbody"))
                    thread = browser.evaluate("document.querySelector('#thread-table tbody th').textContent")
                    check("<img src=x>\\u202e&" in thread, "the thread's name: %r" % thread)
                    check("</script><script>" in visible(browser, "#line-table tbody"), "the source line")
                    check_equal(browser.evaluate("document.querySelectorAll('img').length"), 0, "images")
                    check("owned" not in browser.evaluate("document.title"), "the target's script ran")
                check_quiet(browser, page)

        # Nothing of the source's text with --no-source.
        with Target(default_interpreter(), path) as target:
            with Page(target.pid, "-d", 2, "--no-source") as page:
                with open(page.path, encoding="utf-8") as file:
                    check("range(1000)" not in file.read(), "source text in spite of --no-source")
    finally:
        shutil.rmtree(folder)
