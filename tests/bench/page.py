#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How long the HTML report takes to open, by the size of its tree: from navigation until it is drawn."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "e2e"))

from browser import Browser  # noqa: E402
from harness import Target, default_interpreter  # noqa: E402
from test_html import Page, open_page  # noqa: E402
from test_html_views import focus, large_tree, next_frame, put_tree  # noqa: E402

ROUNDS = 5


def elapsed(browser, action):
    began = browser.evaluate("performance.now()")
    action()
    next_frame(browser)
    return browser.evaluate("performance.now()") - began


def main():
    with Target(default_interpreter(), "conv_backprop.py", "--seconds", 120) as target:
        with Page(target.pid, "-d", 3) as page, Browser() as browser:
            print("| nodes | file | opened, median of %d | another range shown | elements |\n|---|---|---|---|---|" % ROUNDS)
            for nodes in (1000, 10000, 100000):
                put_tree(page, large_tree(nodes))
                opened, chosen = [], []
                for _ in range(ROUNDS):
                    open_page(browser, page)
                    next_frame(browser)
                    opened.append(browser.evaluate("performance.now()"))
                    focus(browser, "range-to")
                    chosen.append(elapsed(browser, lambda: browser.press("PageDown")))
                print("| %d | %d KB | %.0f ms | %.0f ms | %d |" % (
                    nodes, os.path.getsize(page.path) // 1000, sorted(opened)[ROUNDS // 2], sorted(chosen)[ROUNDS // 2],
                    browser.evaluate("document.querySelectorAll('*').length")))


if __name__ == "__main__":
    main()
