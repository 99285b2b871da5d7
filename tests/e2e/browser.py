# SPDX-License-Identifier: Apache-2.0
"""A headless Chromium, driven over a pipe with its DevTools protocol: no port, no package beside the browser."""
import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time

from harness import Failure, Skip, check

PROGRAMS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
TIMEOUT_S = 60


def find_browser():
    for program in PROGRAMS:
        path = shutil.which(program)
        if path:
            return path
    raise Skip("no browser: install chromium-headless-shell, or chromium")


class Browser:
    """One page. problems: console messages, exceptions, policy violations; requests: URLs asked for."""

    def __init__(self):
        program = find_browser()
        self.folder = tempfile.mkdtemp(prefix="pieprofd-test-browser-")
        to_browser, self.output = os.pipe()
        self.input, from_browser = os.pipe()
        # The protocol is on descriptors 3 and 4; high copies first, lest one take the other's place.
        numbers = "exec 3<&%d 4>&%d; exec \"$@\"" % (to_browser, from_browser)
        self.process = subprocess.Popen(
            ["bash", "-c", numbers, "bash", program, "--headless", "--no-sandbox", "--disable-gpu",
             "--disable-dev-shm-usage", "--disable-background-networking", "--no-first-run", "--hide-scrollbars",
             "--user-data-dir=" + self.folder, "--remote-debugging-pipe", "about:blank"],
            pass_fds=(to_browser, from_browser), stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_browser)
        os.close(from_browser)
        self.received = b""
        self.number = 0
        self.events = []
        self.problems = []
        self.requests = []
        self.session = None
        try:
            target = self.call("Target.createTarget", url="about:blank")["targetId"]
            self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
            for domain in ("Page", "Runtime", "Network", "Log"):
                self.call(domain + ".enable")
        except BaseException:
            self.close()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.close()

    def close(self):
        self.process.kill()
        self.process.wait()
        os.close(self.input)
        os.close(self.output)
        shutil.rmtree(self.folder, ignore_errors=True)

    def receive(self):
        end = time.monotonic() + TIMEOUT_S
        while b"\0" not in self.received:
            ready, _, _ = select.select([self.input], [], [], max(0, end - time.monotonic()))
            part = os.read(self.input, 1 << 20) if ready else b""
            if not part:
                raise Failure("the browser %s" % ("ended" if ready else "does not answer"))
            self.received += part
        message, self.received = self.received.split(b"\0", 1)
        return json.loads(message)

    def note(self, event):
        method, values = event["method"], event.get("params", {})
        if method == "Runtime.consoleAPICalled":
            self.problems.append("console: %r" % values["args"])
        elif method == "Runtime.exceptionThrown":
            self.problems.append("exception: %r" % values["exceptionDetails"])
        elif method == "Log.entryAdded":
            self.problems.append("log: %s" % values["entry"]["text"])
        elif method == "Network.requestWillBeSent":
            self.requests.append(values["request"]["url"])
        self.events.append(method)

    def call(self, method, **parameters):
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.output, json.dumps(message).encode() + b"\0")
        while True:
            answer = self.receive()
            if answer.get("id") == self.number:
                check("error" not in answer, "%s: %r" % (method, answer.get("error")))
                return answer["result"]
            if "method" in answer:
                self.note(answer)

    def open(self, path, width=1440, height=900, dark=False, script=True):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        self.call("Emulation.setEmulatedMedia",
                  features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])
        self.call("Emulation.setScriptExecutionDisabled", value=not script)
        self.events.clear()
        self.call("Page.navigate", url="file://" + path)
        while "Page.loadEventFired" not in self.events:
            event = self.receive()
            if "method" in event:
                self.note(event)

    def evaluate(self, expression):
        """The value of a JavaScript expression, which must not fail."""
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        check("exceptionDetails" not in answer, "%s: %r" % (expression, answer.get("exceptionDetails")))
        return answer["result"].get("value")

    def press(self, *keys):
        for key in keys:
            text = {"Enter": "\r", "Space": " "}.get(key, key if len(key) == 1 else "")
            name = " " if key == "Space" else key
            code = {"Tab": 9, "Enter": 13, "Escape": 27, "Space": 32, "PageUp": 33, "PageDown": 34, "End": 35,
                    "Home": 36, "ArrowLeft": 37, "ArrowUp": 38,
                    "ArrowRight": 39, "ArrowDown": 40}.get(key, ord(key[0].upper()))
            down = dict(type="keyDown", key=name, code=key, windowsVirtualKeyCode=code)
            if text:
                down["text"] = text
            self.call("Input.dispatchKeyEvent", **down)
            self.call("Input.dispatchKeyEvent", type="keyUp", key=name, code=key, windowsVirtualKeyCode=code)

    def drag(self, selector, start, end, touch=False):
        """Across an element, from one share of its width to another."""
        left, top, width, height = self.evaluate(
            "(e => (e.scrollIntoView({block: 'center', behavior: 'instant'}), e = e.getBoundingClientRect(), "
            "[e.left, e.top, e.width, e.height]))(document.querySelector(%r))" % selector)
        points = [dict(x=left + width * (start + (end - start) * i / 10), y=top + height / 2) for i in range(11)]
        if touch:
            self.call("Emulation.setTouchEmulationEnabled", enabled=True)
            for i, point in enumerate(points):
                self.call("Input.dispatchTouchEvent", type="touchMove" if i else "touchStart", touchPoints=[point])
            self.call("Input.dispatchTouchEvent", type="touchEnd", touchPoints=[])
            self.call("Emulation.setTouchEmulationEnabled", enabled=False)
            return
        self.call("Input.dispatchMouseEvent", type="mousePressed", button="left", buttons=1, clickCount=1, **points[0])
        for point in points:
            self.call("Input.dispatchMouseEvent", type="mouseMoved", button="left", buttons=1, **point)
        self.call("Input.dispatchMouseEvent", type="mouseReleased", button="left", clickCount=1, **points[-1])

    def screenshot(self, path, whole=True):
        image = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=whole)
        with open(path, "wb") as file:
            file.write(base64.b64decode(image["data"]))
