#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What profiling really costs a program, by engine and mode: switched on and off within one run (switched.py).

    tests/bench/true_cost.py [--rounds N] [--seconds S] [--programs WORD,WORD] [--settings WORD,WORD]

Beside the slowdown of the program's own passes stands what the daemon says that it costs: the limit holds when both are
under it. Wall time is worth looking at on a quiet machine alone; medians with their 95% intervals, by drawing rounds anew.
"""
import argparse
import http.server
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import threading
import time

import switched
from harness import PIEPROFD, TARGETS, default_interpreter

SETTINGS = {
    "time, kernel": ("--mode", "time", "--engine", "kernel"),
    "time, ptrace": ("--mode", "time", "--engine", "ptrace"),
    "all, kernel beside": (),
    "all, ptrace alone": ("--engine", "ptrace"),
}


def element_by_element():
    sys.path.insert(0, TARGETS)
    import conv_backprop
    layer, d = conv_backprop.make(size=6)
    return lambda: layer.backprop(d)


def ufuncs():
    import numpy
    x = numpy.random.rand(20000)

    def work():
        for _ in range(60):
            y = numpy.exp(x)
            numpy.tanh(y)
            numpy.sqrt(y) + x
    return work


def products():
    import numpy
    a = numpy.random.rand(120, 120)

    def work():
        for _ in range(100):
            a @ a
    return work


def scalars():
    def work():
        total = 0.0
        for i in range(120000):
            total += i * 0.5 - total / 3
        return total
    return work


def calls():
    def fib(n):
        return n if n < 2 else fib(n - 1) + fib(n - 2)
    return lambda: fib(21)


def texts():
    document = json.dumps([{"id": i, "name": "user %d" % i, "tags": ["a", "b", str(i)]} for i in range(300)])
    pattern = re.compile(r"user (\d+)")

    def work():
        for _ in range(8):
            pattern.findall(json.dumps(json.loads(document)))
    return work


def system_calls():
    path = os.path.join(tempfile.mkdtemp(), "x")
    with open(path, "wb") as file:
        file.write(b"x" * 4096)

    def work():
        for _ in range(1500):
            with open(path, "rb", buffering=0) as file:
                file.read(64)
    return work


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    body = b"x" * 2000
    # Head and body in one packet: else each answer waits for the client's delayed acknowledgement.
    wbufsize = -1
    answered = threading.Semaphore(0)
    count = 0

    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Length", str(len(self.body)))
        self.end_headers()
        self.wfile.write(self.body)
        Handler.count += 1
        if Handler.count % 100 == 0:
            self.answered.release()

    def log_message(self, *_):
        pass


CLIENT = """
import http.client, os, sys
os.sched_setaffinity(0, {int(sys.argv[2])})
client = http.client.HTTPConnection("127.0.0.1", int(sys.argv[1]))
while os.getppid() == int(sys.argv[3]):
    client.request("GET", "/")
    client.getresponse().read()
"""


def web_server():
    """Which processor each of two is on makes more of a difference than any profiler: each has its own."""
    processors = sorted(os.sched_getaffinity(0))
    os.sched_setaffinity(0, {processors[-1]})
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    subprocess.Popen([sys.executable, "-c", CLIENT, str(server.server_port), str(processors[0]), str(os.getpid())])
    return Handler.answered.acquire


PROGRAMS = {make.__name__: make for make in (element_by_element, ufuncs, products, scalars, calls, texts, system_calls,
                                             web_server)}


def said(path):
    """The overhead that the daemon gives in its own report."""
    try:
        with open(path, encoding="utf-8") as file:
            return json.load(file)["overhead"]
    except (OSError, ValueError):
        return float("nan")


def measure(interpreter, program, settings, arguments, folder):
    windows, overheads = {name: [] for name in settings}, {name: [] for name in settings}
    command = [interpreter.path, os.path.abspath(__file__), "--worker", program]
    with switched.Worker(command, interpreter.environment) as worker:
        worker.wait_for_passes()
        before = worker.window(arguments.seconds)
        for _ in range(arguments.rounds):
            for name, words in settings.items():
                path = os.path.join(folder, "report.json")
                profiled = switched.profiled_window(
                    worker, [PIEPROFD, "--pid", str(worker.process.pid), "-d", "0", "-q", "-o", path, *words],
                    arguments.seconds)
                overheads[name].append(said(path))
                time.sleep(0.2)
                after = worker.window(arguments.seconds)
                windows[name].append((before, profiled, after))
                before = after
    for name in settings:
        cells = []
        for attribute in ("cpu", "wall"):
            values = switched.ratios(windows[name], attribute)
            low, high = switched.interval(values)
            cells.append("%+.2f%% (%+.2f to %+.2f)" % tuple(100 * value - 100 for value in (statistics.median(values), low,
                                                                                            high)))
        used = statistics.median(profiled.profiler_cpu for _, profiled, _ in windows[name])
        print("| %s | %s | %s | %s | %.2f%% | %.1f%% |" % (program, name, cells[0], cells[1],
                                                           100 * statistics.median(overheads[name]), 100 * used), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=2, help="length of one window")
    parser.add_argument("--programs", default="", help="only those with one of these words in their name")
    parser.add_argument("--settings", default="", help="likewise")
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.worker:
        switched.work_until_end(PROGRAMS[arguments.worker]())
        return
    interpreter = default_interpreter()
    print("%s; CPython %s; %d rounds, windows of %g s" % (switched.machine(), interpreter.name, arguments.rounds,
                                                          arguments.seconds))
    print("| program | setting | CPU time of a pass | wall time of a pass | the daemon says | its own CPU time |")
    print("|---|---|---|---|---|---|")
    settings = {name: words for name, words in SETTINGS.items()
                if any(word in name for word in arguments.settings.split(","))}
    with tempfile.TemporaryDirectory() as folder:
        for program in PROGRAMS:
            if any(word in program for word in arguments.programs.split(",")):
                measure(interpreter, program, settings, arguments, folder)


if __name__ == "__main__":
    main()
