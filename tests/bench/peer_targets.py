#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What peers.py profiles: a program of each kind, in which one line takes most of the time.

    tests/bench/peer_targets.py loop|array|server

One file with everything in it, as a profiler that starts a program looks at that program's own files alone. It needs nothing
but numpy, works until its input ends, and says what switched.py reads.
"""
import http.server
import os
import subprocess
import sys
import threading
import time

import switched

# Of the client: requests a second, and how many of them are a pass.
RATE = 60
ANSWERS = 10


def loop():
    """No native code to speak of: names are looked for, and each is made lower case again for each question."""
    names = ["Guest-%04d" % (i * 7919 % 4000) for i in range(600)]
    text = "the quick brown fox jumps over the lazy dog " * 30

    def work():
        found = []
        for i in range(120):
            found += [name for name in names if name.lower().endswith("%04d" % i)]  # planted: loop
        counts = {}
        for letter in text:
            counts[letter] = counts.get(letter, 0) + 1
        return found, counts
    return work


def array():
    """numpy, element by element in one line, and all at once in others."""
    import numpy
    samples = numpy.random.rand(12000)
    table = numpy.random.rand(120000)

    def work():
        smooth = samples.copy()
        for i in range(1, len(samples)):
            smooth[i] = 0.9 * smooth[i - 1] + 0.1 * samples[i]  # planted: array
        mean = numpy.sqrt(table * table).mean()
        return smooth, numpy.sort(table)[:10] - mean
    return work


def seen_of(guests):
    seen = []
    for guest in guests:
        if guest not in seen:  # planted: server
            seen.append(guest)
    return seen


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # Head and body in one packet: else each answer waits for the client's delayed acknowledgement.
    wbufsize = -1
    guests = ["guest-%04d" % (i * 7919 % 500) for i in range(1500)]

    def do_GET(self):
        rows = ["<li>%s</li>" % guest.title() for guest in seen_of(self.guests)]
        body = "".join(rows).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


# Says of each answer how many nanoseconds after it was due it had come. One that comes late moves all after it.
CLIENT = """
import http.client, os, sys, time
port, parent, rate = map(int, sys.argv[1:])
client = http.client.HTTPConnection("127.0.0.1", port)
due = time.monotonic_ns()
while os.getppid() == parent:
    time.sleep(max(0, due - time.monotonic_ns()) / 1e9)
    client.request("GET", "/")
    client.getresponse().read()
    now = time.monotonic_ns()
    print(now - due, flush=True)
    due = max(due + 10**9 // rate, now)
"""


class Answers:
    """How long the client's answers took, all together."""

    def __init__(self):
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        # By its real name: a profiler that follows children goes by the other one.
        client = [os.path.realpath("/proc/self/exe"), "-c", CLIENT, str(server.server_port), str(os.getpid()), str(RATE)]
        self.client = subprocess.Popen(client, stdout=subprocess.PIPE, text=True)
        self.taken_ns = 0

    def wait(self):
        for _ in range(ANSWERS):
            self.taken_ns += int(self.client.stdout.readline())


def main():
    if sys.argv[1] == "server":
        answers = Answers()
        switched.work_until_end(answers.wait, lambda: answers.taken_ns)
        answers.client.kill()
    else:
        switched.work_until_end({"loop": loop, "array": array}[sys.argv[1]]())


if __name__ == "__main__":
    main()
