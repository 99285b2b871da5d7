# SPDX-License-Identifier: Apache-2.0
"""Starts its only busy thread after it has been attached to."""
import argparse
import threading
import time

import numpy as np

import conv_backprop
import support


def late_work(seconds, result):
    layer, d = conv_backprop.make()
    expected = layer.backprop_fixed(d)
    end = time.monotonic() + seconds
    while result["passes"] == 0 or time.monotonic() < end:
        if not np.allclose(layer.backprop(d), expected, rtol=1e-12):
            result["problems"].append("the late thread computed another gradient")
            return
        result["passes"] += 1


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--wait", type=float, default=10, help="for a tracer, at most so long")
    parser.add_argument("--seconds", type=float, default=10, help="of work, after that")
    arguments = parser.parse_args()

    support.ready()
    traced = support.wait_traced(arguments.wait)
    result = {"passes": 0, "problems": []}
    thread = threading.Thread(target=late_work, args=(arguments.seconds, result), name="late")
    thread.start()
    thread.join()
    if result["passes"] == 0 and not result["problems"]:
        result["problems"].append("the late thread did no work")
    support.finish("late_thread", result["problems"],
                   "traced=%s passes=%d" % ("yes" if traced else "no", result["passes"]))


if __name__ == "__main__":
    main()
