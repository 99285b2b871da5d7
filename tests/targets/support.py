# SPDX-License-Identifier: Apache-2.0
"""What the targets share: the first line, the last line, and whether somebody traces us."""
import os
import sys
import time


def ready():
    """The first line of every target: it is set up and about to work."""
    print("ready", flush=True)


def finish(name, problems, facts=""):
    """The last line and the exit code: `ok NAME ...`, or what was wrong."""
    for problem in problems:
        print("wrong %s: %s" % (name, problem), flush=True)
    if problems:
        sys.exit(1)
    print(("ok %s %s" % (name, facts)).rstrip(), flush=True)


def traced():
    """Is a tracer attached to the main thread now?"""
    with open("/proc/%d/status" % os.getpid()) as status:
        for line in status:
            if line.startswith("TracerPid:"):
                return int(line.split()[1]) != 0
    return False


def wait_traced(seconds):
    """Wait until somebody traces us, at most so long; whether it came to that."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if traced():
            return True
        time.sleep(0.01)
    return False
