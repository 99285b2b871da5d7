# SPDX-License-Identifier: Apache-2.0
"""The machine's own Chromium, headless, driven by playwright-core through its Python interface."""
import functools
import os
import shutil
import signal
import subprocess
import sys
import threading

from harness import ROOT, Skip

PROGRAMS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
# A page that takes longer hangs: the browser is ended, so that what waits for it fails.
PAGE_MAX_S = 120


@functools.lru_cache(maxsize=None)
def add_playwright():
    """Puts it where modules are imported from. Returns why that cannot be, or None."""
    run = subprocess.run([os.path.join(ROOT, "tests", "tools", "playwright"), sys.executable],
                         capture_output=True, text=True, check=False)
    if run.returncode:
        return (run.stderr.strip().splitlines() or ["no playwright"])[-1]
    sys.path.insert(0, run.stdout.strip())
    return None


def find_browser():
    """Both the browser and what drives it."""
    program = next(filter(None, map(shutil.which, PROGRAMS)), None)
    if not program:
        raise Skip("no browser: install chromium-headless-shell, or chromium")
    problem = add_playwright()
    if problem:
        raise Skip(problem)
    return program


class Browser:
    """One page at a time. problems: console messages, exceptions, policy violations; requests: URLs asked for."""

    def __init__(self):
        program = find_browser()
        from playwright.sync_api import sync_playwright
        self.problems = []
        self.requests = []
        self.page = None
        self.watchdog = None
        self.playwright = sync_playwright().start()
        try:
            # Root has no sandbox.
            self.browser = self.playwright.chromium.launch(executable_path=program, chromium_sandbox=False)
            processes = self.browser.new_browser_cdp_session().send("SystemInfo.getProcessInfo")["processInfo"]
            self.pid = next(process["id"] for process in processes if process["type"] == "browser")
        except BaseException:
            self.playwright.stop()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.close_page()
        self.browser.close()
        self.playwright.stop()

    def close_page(self):
        if self.watchdog:
            self.watchdog.cancel()
        if self.page:
            self.page.context.close()
            self.page = None

    def open(self, path, width=1440, height=900, dark=False, script=True, touch=False):
        """A new page, with nothing left of the one before."""
        self.close_page()
        self.watchdog = threading.Timer(PAGE_MAX_S, os.kill, (self.pid, signal.SIGKILL))
        self.watchdog.start()
        context = self.browser.new_context(viewport={"width": width, "height": height}, has_touch=touch,
                                           color_scheme="dark" if dark else "light", java_script_enabled=script)
        self.page = context.new_page()
        self.page.on("console", lambda message: self.problems.append("%s: %s" % (message.type, message.text)))
        self.page.on("pageerror", lambda error: self.problems.append("exception: %s" % error))
        self.page.on("dialog", lambda dialog: (self.problems.append("dialog: %s" % dialog.message), dialog.dismiss()))
        self.page.on("popup", lambda page: self.problems.append("window: %s" % page.url))
        context.on("request", lambda request: self.requests.append(request.url))
        self.page.goto("file://" + path)

    def evaluate(self, expression):
        """The value of a JavaScript expression, which must not fail."""
        return self.page.evaluate(expression)

    def press(self, *keys):
        for key in keys:
            self.page.keyboard.press(key)

    def drag(self, selector, start, end, touch=False):
        """Across an element, from one share of its width to another."""
        element = self.page.locator(selector)
        element.evaluate("e => e.scrollIntoView({block: 'center', behavior: 'instant'})")
        box = element.bounding_box()
        points = [{"x": box["x"] + box["width"] * (start + (end - start) * i / 10), "y": box["y"] + box["height"] / 2}
                  for i in range(11)]
        if touch:
            # Playwright itself taps, no more.
            session = self.page.context.new_cdp_session(self.page)
            for i, point in enumerate(points):
                session.send("Input.dispatchTouchEvent", {"type": "touchMove" if i else "touchStart",
                                                          "touchPoints": [point]})
            session.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
            session.detach()
            return
        mouse = self.page.mouse
        mouse.move(**points[0])
        mouse.down()
        for point in points[1:]:
            mouse.move(**point)
        mouse.up()
