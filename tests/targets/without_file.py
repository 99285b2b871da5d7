#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Threads that sleep in code without a file of its own: exec(), with a text in linecache and without, and nonsense there.

    without_file.py
"""
import linecache
import os
import sys
import threading
import time

from support import ready

TEXT = """import time
def %s():
    own = 1
    time.sleep(3600)  # in the text of %s
"""


class Name(str):
    pass


def keep(name, lines):
    """As attrs, doctest and IPython do."""
    linecache.cache[name] = (len("".join(lines)), None, lines, name)


def run(name, function, kept=None):
    text = TEXT % (function, function)
    space = {}
    exec(compile(text, name, "exec"), space)
    keep(name, text.splitlines(True)) if kept is None else linecache.cache.update({name: kept})
    threading.Thread(target=space[function], name=function, daemon=True).start()


def main():
    run("<made by a program>", "known")
    run("<ipython-input-7-0123abcd>", "old_cell")
    run("<string>", "unknown", (0,))
    run("no/such/file.py", "of_no_file")
    # Not lines, not as many, not a text, not ending.
    endless = []
    endless.append(endless)
    run("<lines that are numbers>", "numbers", (9, None, [1, 2, 3, 4], ""))
    run("<lines that are none>", "none", (9, None, None, ""))
    run("<lines in a circle>", "circle", (9, None, endless, ""))
    run("<a line of a megabyte>", "long", (9, None, ["import time\n", "def\n", "\n", "x" * (1 << 20)], ""))
    run("<a line that attacks>", "attack", (9, None, ["\n", "\n", "\n", "\x1b[31m<script>\u202e\udcff # attacks\n"], ""))
    linecache.cache[Name("<a name of another type>")] = (1, None, ["x\n"], "x")
    linecache.cache[7] = linecache.cache[None] = (1, None, ["x\n"], "x")
    linecache.cache["<too many lines>"] = (1, None, ["x\n"] * 100000, "x")
    time.sleep(0.3)
    ready()
    sys.stdin.read()
    print("ok without_file", flush=True)
    os._exit(0)


if __name__ == "__main__":
    main()
