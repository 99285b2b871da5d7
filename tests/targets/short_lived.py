# SPDX-License-Identifier: Apache-2.0
"""Exits, with a code of its own choice, soon after it has been attached to."""
import argparse
import sys
import time

import conv_backprop
import support


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--wait", type=float, default=10, help="for a tracer, at most so long")
    parser.add_argument("--seconds", type=float, default=1, help="of work, after that")
    parser.add_argument("--exit-code", type=int, default=0)
    arguments = parser.parse_args()

    layer, d = conv_backprop.make()
    support.ready()
    traced = support.wait_traced(arguments.wait)
    passes = 0
    end = time.monotonic() + arguments.seconds
    while passes == 0 or time.monotonic() < end:
        layer.backprop(d)
        passes += 1
    support.finish("short_lived", [], "traced=%s" % ("yes" if traced else "no"))
    sys.exit(arguments.exit_code)


if __name__ == "__main__":
    main()
