# SPDX-License-Identifier: Apache-2.0
"""The HTML report's sections of processes and of waiting, from real runs: figures, barriers, no script."""
import os
import shutil
import subprocess
import tempfile

from browser import Browser, find_browser
from harness import PIEPROFD, TARGETS, check, check_equal, check_sampled, default_interpreter
from test_dump import waiting_target
from test_html import Page, check_names, check_quiet, open_page, visible
from test_html_views import check_barriers, found_by_search, next_frame, shown_seconds

# Colours are those of the sections that test_html_views.py looks at in all four.
VIEWS = ((1440, False), (320, True))


class Made:
    """The report of a command."""

    def __init__(self, *command):
        self.folder = tempfile.mkdtemp(prefix="pieprofd-test-")
        self.path = os.path.join(self.folder, "p.html")
        self.run = subprocess.run([PIEPROFD, "-q", "--follow", "--mode", "time", "-o", self.path, "--", *command],
                                  capture_output=True, text=True, timeout=60, check=False)

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        shutil.rmtree(self.folder)


def rows(browser, selector):
    return browser.evaluate("[...document.querySelectorAll('%s tbody tr')].map(r => "
                            "[...r.children].map(c => c.textContent))" % selector)


def check_views(browser, page):
    """By axe's rules, wide and light, narrow and dark; of what can be opened, some stands for the rest."""
    for width, dark in VIEWS:
        open_page(browser, page, width=width, dark=dark)
        check_equal(browser.evaluate("document.documentElement.scrollWidth"), width, "width of the page")
        browser.evaluate("document.querySelectorAll('details').forEach(e => e.open = e.matches(':nth-of-type(-n + 2)'))")
        check_barriers(browser, "%d px, %s" % (width, "dark" if dark else "light"))
    open_page(browser, page)
    check_names(browser)


def check_range(browser):
    """The last part of the run is that of the worker with most work."""
    browser.evaluate("(e => (e.value = Math.floor(e.max * 0.9), e.dispatchEvent(new Event('input'))))"
                     "(document.getElementById('range-from'))")
    next_frame(browser)
    check(visible(browser, "#range-bar"), "no part of the run is chosen")
    shares = [row[1] for row in rows(browser, "#thread-table")]
    check("0.0%" in shares[1:], "a worker that had ended still has a share: %s" % shares)
    check(shown_seconds(browser) > 0, "nothing ran in the last part")
    browser.evaluate("document.getElementById('whole-run').click()")
    next_frame(browser)


def test_processes_section():
    """A pre-fork program: workers of 1, 2, 3 and 4 parts of the work."""
    find_browser()
    command = [default_interpreter().path, os.path.join(TARGETS, "processes.py"), "fork", "--seconds", "1.6"]
    with Made(*command) as page, Browser() as browser:
        check_equal(page.run.returncode, 0, "status, of %s" % page.run.stderr)
        workers = page.run.stdout.split("ok processes")[1].split()
        check_views(browser, page)
        found = {row[0]: row for row in rows(browser, "#process-table")}
        # The first may have ended before it was found.
        check(len(found) in (5, 6), "processes: %s" % list(found))
        for number, pid in list(enumerate(workers))[1:]:
            check_equal(found[pid][1], "exit %d" % number, "end of worker %s" % pid)
            check("processes.py fork" in found[pid][8], "command of worker %s: %s" % (pid, found[pid]))
        check("SIGKILL" in [row[1] for row in found.values()], "the sleeper's end, in %s" % found)
        # Threads of all of them, each with its process, and in the order of the processes.
        labels = [row[0] for row in rows(browser, "#thread-table")]
        order = list(found)
        pids = [label.split(":")[0].split()[1] for label in labels]
        check(set(workers[1:]) <= set(pids), "threads of %s in %s" % (workers, labels))
        check_equal(pids, sorted(pids, key=order.index), "order of threads")
        check_range(browser)
        check_equal(visible(browser, "#waiting"), "", "the section of waiting, without --idle")
        processes = browser.evaluate("document.querySelectorAll('#graph .process').length")
        check(processes >= 3, "%d processes in the graph" % processes)
        check_quiet(browser, page)
        browser.open(page.path, script=False)
        check("SIGKILL" in visible(browser, "#processes"), "no processes without script")
        check("pid " + workers[-1] in visible(browser, "#thread-table"), "no threads without script")


KINDS = {"wait_for_lock": "Lock", "wait_for_socket": "I/O", "wait_for_time": "Sleep", "wait_for_child": "Child"}


def check_waiting(browser):
    heads = browser.evaluate("[...document.querySelectorAll('#waiting-threads thead th')].map(e => e.textContent)")
    for row in rows(browser, "#waiting-threads"):
        kind = KINDS.get(row[0].split()[0])
        if kind:
            # It did nothing else.
            share = float(row[heads.index(kind)].rstrip("%"))
            check(share > 60, "%s of %s in %s" % (kind, row[0], row))
            check_equal(row[1], "0.0%", "CPU time of %s" % row[0])
    lines = visible(browser, "#waiting-lines")
    for words in ("waits for a lock", "waits for a time", "waits for a child"):
        check("# " + words in lines, "%s is not among the lines: %s" % (words, lines))


def check_narrow(browser, page):
    """Each figure stands below its line or thread, with its heading; what there is none of takes no room."""
    open_page(browser, page, width=390, height=844, touch=True)
    for holder in ("waiting-lines", "waiting-threads", "line-table"):
        browser.evaluate("document.getElementById(%r).closest('[role=tabpanel]').classList.remove('off')" % holder)
        table = "document.getElementById(%r).querySelector('table')" % holder
        beyond = browser.evaluate("(e => e.scrollWidth - e.parentElement.clientWidth)(%s)" % table)
        check(beyond <= 0, "#%s is %d px too wide" % (holder, beyond))
        cells = browser.evaluate("[...%s.tBodies[0].querySelectorAll('td')].filter(e => e.checkVisibility())"
                                 ".map(e => [e.textContent, e.dataset.title])" % table)
        check(cells and all(text not in ("", "-") and title for text, title in cells), "#%s: %s" % (holder, cells))


def choose_weight(browser, kind):
    browser.evaluate("(e => (e.value = %r, e.dispatchEvent(new Event('change'))))"
                     "(document.getElementById('weight'))" % kind)
    next_frame(browser)


def test_waiting_section():
    """Threads that wait, each for something else, beside CPU time and apart from it."""
    find_browser()
    with waiting_target(default_interpreter(), "waiting.py", "--busy") as (target, _):
        with Page(target.pid, "-d", 3, "--mode", "time", "--idle") as page, Browser() as browser:
            check_narrow(browser, page)
            check_views(browser, page)
            check_waiting(browser)
            check("Garbage collector" in visible(browser, "#threads"), "no share of the garbage collector")
            check("GIL" in visible(browser, "#threads .facts"), "no share of the GIL")
            names = [row[0].split()[0] for row in rows(browser, "#line-table")]
            check(names, "no lines")
            check("waits for" not in visible(browser, "#line-table"), "waiting among the lines of CPU time")
            busy = shown_seconds(browser)
            choose_weight(browser, "all")
            asleep = shown_seconds(browser)
            check(asleep > 2 * busy, "%g s asleep, %g s of CPU time" % (asleep, busy))
            choose_weight(browser, "lock")
            check("%" in found_by_search(browser, "wait_for_lock"), "no waiting for the lock in the graph")
            check_equal(found_by_search(browser, "wait_for_time"), "Nothing found", "sleep among the locks")
            # A part of the run is of CPU time.
            browser.evaluate("(e => (e.focus(), e.value = Math.floor(e.max / 2), e.dispatchEvent(new Event('input'))))"
                             "(document.getElementById('range-from'))")
            part = shown_seconds(browser)
            check_sampled(part < busy, "not the CPU time of a part of the run: %g s of %g s" % (part, busy))
            check_equal(visible(browser, "#processes"), "", "the section of processes, of one")
            check_quiet(browser, page)
            browser.open(page.path, script=False)
            check_waiting(browser)
