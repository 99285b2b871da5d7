#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Loads, or stores, of which a given share is redundant (the extension dial.c).

    dial.py --folder WHERE-IT-WAS-BUILT --kind load|store --percent P [--seconds N]
"""
import argparse
import sys
import time

from support import finish, ready


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", required=True)
    parser.add_argument("--kind", choices=("load", "store"), default="load")
    parser.add_argument("--percent", type=int, default=50)
    parser.add_argument("--seconds", type=float, default=10)
    arguments = parser.parse_args()
    sys.path.insert(0, arguments.folder)
    import dial

    ready()
    end = time.monotonic() + arguments.seconds
    step = 1
    while time.monotonic() < end:
        if arguments.kind == "load":
            dial.change(step, arguments.percent)
            dial.read_all()
        else:
            dial.write_all(step, arguments.percent)
        step += 1
    finish("dial", [], "rounds=%d" % step)


if __name__ == "__main__":
    main()
