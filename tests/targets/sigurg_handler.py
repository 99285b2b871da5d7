# SPDX-License-Identifier: Apache-2.0
"""Handles SIGURG itself, sends itself some, and must see those and no other.

Python's wake-up descriptor gets one byte each time the C handler runs, so
two signals between two bytecodes still count as two.
"""
import argparse
import os
import signal
import time

import conv_backprop
import support


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=10)
    arguments = parser.parse_args()

    read_end, write_end = os.pipe()
    os.set_blocking(read_end, False)
    os.set_blocking(write_end, False)
    handled = []
    signal.signal(signal.SIGURG, lambda number, frame: handled.append(number))
    signal.set_wakeup_fd(write_end)

    received = 0

    def drain():
        nonlocal received
        try:
            while True:
                received += os.read(read_end, 4096).count(bytes([signal.SIGURG]))
        except BlockingIOError:
            pass

    layer, d = conv_backprop.make(size=10)
    problems = []
    support.ready()
    sent = 0
    end = time.monotonic() + arguments.seconds
    while not problems and (sent == 0 or time.monotonic() < end):
        layer.backprop(d)
        drain()
        if received != sent:
            problems.append("%d received, %d sent" % (received, sent))
        os.kill(os.getpid(), signal.SIGURG)
        sent += 1
        # A signal to oneself is delivered before kill returns, or, when another
        # thread takes it, soon after.
        patience = time.monotonic() + 10
        while received < sent and time.monotonic() < patience:
            drain()
    layer.backprop(d)
    drain()
    if received < sent:
        problems.append("lost: %d sent, %d received" % (sent, received))
    elif received > sent:
        problems.append("unexpected: %d sent, %d received" % (sent, received))
    if len(handled) != sent:
        problems.append("%d sent, the Python handler ran %d times" % (sent, len(handled)))
    support.finish("sigurg_handler", problems, "sent=%d unexpected=%d" % (sent, received - sent))


if __name__ == "__main__":
    main()
