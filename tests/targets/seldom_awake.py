# SPDX-License-Identifier: Apache-2.0
"""A nearly idle program: wakes twenty times a second, and works for two milliseconds of CPU time each time."""
import argparse
import json
import time

import support

RECORDS = {str(i): list(range(20)) for i in range(40)}


def work():
    text = json.dumps(RECORDS)
    return json.loads(text) == RECORDS


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=10)
    arguments = parser.parse_args()
    problems = []

    support.ready()
    end = time.monotonic() + arguments.seconds
    while time.monotonic() < end:
        time.sleep(0.05)
        until = time.thread_time() + 0.002
        while time.thread_time() < until:
            if not work():
                problems.append("records were changed")
    support.finish("seldom_awake", problems)


if __name__ == "__main__":
    main()
