# SPDX-License-Identifier: Apache-2.0
"""The page of a trace in a real browser: its first screen, the timeline by keys and by pointer, barriers, hostile names."""
import os
import re
import tempfile

from browser import Browser, find_browser
from harness import Daemon, Skip, check, check_equal, default_interpreter, wait_until, with_packages
from test_html import check_names, check_quiet, check_tabs, show_tab, tab_titles, visible
from test_html_views import check_barriers
from test_launchers import MPI_ENVIRONMENT, program

HOSTILE = "<img src=x onerror=document.title='owned'>"
TURNS = 200
JOB = """
from mpi4py import MPI
world = MPI.COMM_WORLD
rank = world.Get_rank()
def turn():
    if rank:
        world.recv(source=0, tag=7)
    sum(range(20000))
    world.send(bytes(100), dest=1 - rank, tag=7)
    if not rank:
        world.recv(source=1, tag=7)
for _ in range(%d):
    turn()
world.Barrier()
""" % TURNS


class Page:
    def __init__(self, path):
        self.path = path


def next_frame(browser):
    browser.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")


def open_trace(browser, page, **how):
    """Until its script is done."""
    browser.open(page.path, **how)
    browser.evaluate("new Promise(done => { const look = () => document.getElementById('timeline').hidden && "
                     "document.getElementById('problem').hidden ? setTimeout(look, 5) : done(); look(); })")


def pixels(browser):
    """What the picture is, to be told apart from another one."""
    next_frame(browser)
    return browser.evaluate("document.getElementById('lane-canvas').toDataURL()")


def check_timeline(browser):
    show_tab(browser, "Timeline")
    whole = pixels(browser)
    # The picture may be drawn twice before it has found its place.
    wait_until(lambda: "%d messages" % (2 * TURNS) in visible(browser, "#view"), what="the messages to be shown")
    browser.evaluate("document.getElementById('lane-picture').focus()")
    browser.press("ArrowDown", "m")
    words = visible(browser, "#chosen-event")
    check(re.match(r"Message from rank 0 to rank 1: sent at .*, tag 7, \d+ bytes", words), "chosen: %s" % words)
    browser.press("n")
    check("rank 1: MPI_" in visible(browser, "#chosen-event"), "chosen: %s" % visible(browser, "#chosen-event"))
    browser.press("+", "+", "ArrowRight")
    check(pixels(browser) != whole, "the picture is the same after zooming")
    browser.press("0", "ArrowUp")
    browser.drag("#lane-canvas", 0.8, 0.2)
    browser.evaluate("document.getElementById('zoom-in').click()")
    near = pixels(browser)
    check(near != whole, "the picture is the same after a button")
    browser.drag("#lane-canvas", 0.6, 0.4)
    check(pixels(browser) != near, "the picture is the same after a drag")
    browser.page.locator("#lane-canvas").click(position={"x": 100, "y": 10})
    check(visible(browser, "#chosen-event").startswith(("rank 0", "Message")), "chosen: %s" % visible(browser, "#chosen-event"))


def test_trace_page():
    if os.geteuid():
        raise Skip("needs root")
    find_browser()
    interpreter = with_packages(default_interpreter(), "mpi4py")
    with tempfile.TemporaryDirectory(prefix="pieprofd-test-") as folder:
        script, page = os.path.join(folder, HOSTILE.replace("/", "") + ".py"), Page(os.path.join(folder, "t.html"))
        with open(script, "w", encoding="utf-8") as file:
            file.write(JOB)
        with Daemon("trace", "-o", page.path, "--", program("mpirun"), "-n", "2", interpreter.path, script,
                    environment=dict(os.environ, **MPI_ENVIRONMENT, **interpreter.environment)) as daemon:
            daemon.finish()
        with Browser() as browser:
            for width, dark in ((1440, False), (320, True)):
                open_trace(browser, page, width=width, dark=dark)
                check_equal(tab_titles(browser), ["Overview", "Timeline", "Calls", "Text"], "tabs")
                check(re.match(r"Parallel efficiency \d", visible(browser, "#efficiency .headline")), "no first screen")
                check(HOSTILE in visible(browser, "#lines"), "the line is not in %s" % visible(browser, "#lines"))
                check_tabs(browser, width)
                check_names(browser)
                check_timeline(browser)
                check_barriers(browser, "%d px" % width)
            check_equal(browser.evaluate("document.querySelectorAll('img').length"), 0, "elements of the target's")
            browser.open(page.path, script=False)
            check("Parallel efficiency" in visible(browser, "#overview"), "nothing without a script")
            check_quiet(browser, page)
