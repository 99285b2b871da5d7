# SPDX-License-Identifier: Apache-2.0
"""What the programs of this folder share: they go on for `--seconds`, say `ready` first and `ok NAME` last."""
import argparse
import os
import sys
import time


def rounds():
    """The numbers of the rounds, until the time is over."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=10)
    end = time.monotonic() + parser.parse_args().seconds
    print("ready", flush=True)
    number = 0
    while time.monotonic() < end:
        yield number
        number += 1
    print("ok %s rounds=%d" % (os.path.basename(sys.argv[0])[:-3], number), flush=True)
