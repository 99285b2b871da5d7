#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What looks at a web server's heap do to its requests: phases in turn in one run, of which in a third nobody looks, in a third
looks at it follow each other, and in a third looks at a second process alike, whose cost to the machine is the same.

    tests/bench/heap_latency.py [--rounds 12] [--seconds 4] [--objects 600000] [--python PYTHON]

Requests come one at a time, each some milliseconds after the one before. Percentiles of all phases of a kind together, the median
and the range of what each round has, and the server's page faults while it was looked at.
"""
import argparse
import http.client
import os
import statistics
import subprocess
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, "e2e"))

from harness import PIEPROFD  # noqa: E402

PAUSE = 0.004
KINDS = ("nobody looks", "looks at it", "looks at another")
SERVER = """
import http.server, json, sys
class Session:
    def __init__(self, number):
        self.number = number
        self.pages = ["page %d" % number, number + 1000]
sessions = [Session(number) for number in range(int(sys.argv[1]))]
class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    def do_GET(self):
        number = int(self.path[1:])
        body = json.dumps([sessions[(number * 7919 + k) % len(sessions)].pages for k in range(200)]).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
    def log_message(self, *words):
        pass
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
print(server.server_port, flush=True)
server.serve_forever()
"""


class Server:
    def __init__(self, python, objects):
        self.process = subprocess.Popen([python, "-c", SERVER, str(objects)], stdout=subprocess.PIPE, text=True)
        self.port = int(self.process.stdout.readline())

    def faults(self):
        with open("/proc/%d/stat" % self.process.pid) as file:
            return sum(int(word) for word in file.read().rpartition(")")[2].split()[7:11:2])

    def resident(self):
        with open("/proc/%d/statm" % self.process.pid) as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGESIZE")


def requests_for(port, seconds):
    """The time that each request took."""
    connection, took = http.client.HTTPConnection("127.0.0.1", port), []
    end = time.perf_counter() + seconds
    number = 0
    while time.perf_counter() < end:
        began = time.perf_counter()
        connection.request("GET", "/%d" % number)
        connection.getresponse().read()
        took.append(time.perf_counter() - began)
        number += 1
        time.sleep(PAUSE)
    connection.close()
    return took


class Looks:
    """One after the other, until it is told to end."""

    def __init__(self, pid):
        self.ended, self.count, self.failed = threading.Event(), 0, 0
        self.thread = threading.Thread(target=self.run, args=(pid,))
        self.thread.start()

    def run(self, pid):
        while not self.ended.is_set():
            code = subprocess.run([PIEPROFD, "heap", "--pid", str(pid)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                  check=False).returncode
            self.count += 1
            self.failed += code != 0

    def end(self):
        self.ended.set()
        self.thread.join()


def percentile(values, share):
    return sorted(values)[min(len(values) - 1, int(len(values) * share))]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=12)
    parser.add_argument("--seconds", type=float, default=4)
    parser.add_argument("--objects", type=int, default=600000)
    parser.add_argument("--python", default="/usr/bin/python3")
    arguments = parser.parse_args()
    server, other = Server(arguments.python, arguments.objects), Server(arguments.python, arguments.objects)
    took, rounds, looks, faults = {kind: [] for kind in KINDS}, {kind: [] for kind in KINDS}, [0, 0], 0
    requests_for(server.port, 1)
    for number in range(arguments.rounds):
        # Each kind is first, second and third as often.
        for kind in KINDS[number % 3:] + KINDS[:number % 3]:
            seen = Looks((server if kind == KINDS[1] else other).process.pid) if kind != KINDS[0] else None
            before = server.faults()
            phase = requests_for(server.port, arguments.seconds)
            faults += (server.faults() - before) * (kind == KINDS[1])
            if seen:
                seen.end()
                looks = [looks[0] + seen.count, looks[1] + seen.failed]
            took[kind] += phase
            rounds[kind].append(percentile(phase, 0.99))
    print("%d MB in RAM; %d looks, %d failed; %d page faults of the server while it was looked at" % (
        server.resident() / 1e6, looks[0], looks[1], faults))
    print("| | requests | p50 | p99 | p99.9 | p99 of a round |")
    print("|---|---|---|---|---|---|")
    for kind in KINDS:
        print("| %s | %d | %.2f ms | %.2f ms | %.2f ms | %.2f (%.2f to %.2f) |" % (
            kind, len(took[kind]), *(1e3 * percentile(took[kind], share) for share in (0.5, 0.99, 0.999)),
            1e3 * statistics.median(rounds[kind]), 1e3 * min(rounds[kind]), 1e3 * max(rounds[kind])))
    ratios = [looked / others for looked, others in zip(rounds[KINDS[1]], rounds[KINDS[2]])]
    print("p99 looked at over that beside looks at another: %.2f (%.2f to %.2f)" % (
        statistics.median(ratios), min(ratios), max(ratios)))
    for one in (server, other):
        one.process.kill()
        one.process.wait()
    return 1 if looks[1] else 0


if __name__ == "__main__":
    sys.exit(main())
