# SPDX-License-Identifier: Apache-2.0
"""Gets SIGALRM a thousand times a second while it works."""
import argparse
import signal
import time

import numpy as np

import conv_backprop
import support


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=10)
    arguments = parser.parse_args()

    counts = {"handled": 0}

    def handler(number, frame):
        counts["handled"] += 1

    layer, d = conv_backprop.make()
    expected = layer.backprop_fixed(d)
    problems = []
    signal.signal(signal.SIGALRM, handler)
    support.ready()
    start = time.monotonic()
    signal.setitimer(signal.ITIMER_REAL, 0.001, 0.001)
    while time.monotonic() < start + arguments.seconds:
        if not np.allclose(layer.backprop(d), expected, rtol=1e-12):
            problems.append("computed another gradient")
            break
    signal.setitimer(signal.ITIMER_REAL, 0)
    elapsed = time.monotonic() - start
    # A busy machine merges signals of this kind; that most of them are gone means trouble.
    if counts["handled"] < 0.05 * elapsed / 0.001:
        problems.append("only %d signals in %.1f s" % (counts["handled"], elapsed))
    support.finish("signals_1khz", problems, "handled=%d" % counts["handled"])


if __name__ == "__main__":
    main()
