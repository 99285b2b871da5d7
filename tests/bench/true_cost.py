#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What profiling really costs a program, by engine and mode: switched on and off within one run (switched.py).

    tests/bench/true_cost.py [--rounds N] [--seconds S] [--programs WORD,WORD] [--settings NAME,NAME] [--keep FILE]

Beside the slowdown of the program's own passes stands what the daemon says that it costs: the limit holds when both are
under it. Wall time is worth looking at on a quiet machine alone; medians with their 95% intervals, by drawing rounds anew.
Settings take turns in one process. --keep adds the windows to a file, and the table is of all that it has: for a machine
that is quiet now and then. Of what a setting finds, accesses followed for each second of the program's CPU time are shown.
"""
import argparse
import http.server
import json
import os
import random
import re
import statistics
import subprocess
import sys
import tempfile
import threading
import time

import switched
from harness import PIEPROFD, TARGETS, default_interpreter

# The last takes so many samples that the cost of each shows; hundredths of a per cent do not.
SETTINGS = {
    "default": (),
    "default ptrace": ("--engine", "ptrace"),
    "time": ("--mode", "time", "--engine", "kernel"),
    "time ptrace": ("--mode", "time", "--engine", "ptrace"),
    "time 2 kHz": ("--mode", "time", "--engine", "kernel", "--rate", "2000", "--max-overhead", "50"),
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


def scalars_150_threads():
    """All but one wait."""
    for _ in range(149):
        threading.Thread(target=threading.Event().wait, daemon=True).start()
    return scalars()


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
                                             web_server, scalars_150_threads)}


def said(path):
    """What the daemon says in its own report: its overhead, the accesses that it has followed, CPU seconds profiled."""
    try:
        with open(path, encoding="utf-8") as file:
            report = json.load(file)
    except (OSError, ValueError):
        return None
    return [report["overhead"], report["loads"]["sampled"] + report["stores"]["sampled"], report["cpu_ns"] / 1e9]


def measure(interpreter, program, settings, arguments, folder):
    """Yields a list for each window with profiling: its program, setting, the three windows, and what the daemon said."""
    command = [interpreter.path, os.path.abspath(__file__), "--worker", program]
    with switched.Worker(command, interpreter.environment) as worker:
        worker.wait_for_passes()
        before = worker.window(arguments.seconds)
        for _ in range(arguments.rounds):
            for name in settings:
                path = os.path.join(folder, "report.json")
                try:
                    profiled = switched.profiled_window(
                        worker, [PIEPROFD, "--pid", str(worker.process.pid), "-d", "0", "-q", "-o", path, *SETTINGS[name]],
                        arguments.seconds, settle=arguments.settle)
                except RuntimeError as error:
                    # Somebody else's debugger was attached, or the machine was too busy.
                    print("%s, %s: %s" % (program, name, error), file=sys.stderr)
                    profiled = None
                time.sleep(0.1)
                after = worker.window(arguments.seconds)
                # Another process had all of the processor: no pass ended.
                if before and profiled and after:
                    yield [program, name, [before, profiled, after], said(path)]
                before = after
                if os.path.exists(path):
                    os.unlink(path)


def slowdown(windows, attribute):
    values = switched.ratios(windows, attribute)
    return tuple(100 * value - 100 for value in (statistics.median(values), *switched.interval(values)))


def show(program, name, rounds):
    windows = [tuple(switched.Window(*window) for window in entry[2]) for entry in rounds]
    reports = [entry[3] for entry in rounds if entry[3]]
    cells = [program, name, str(len(rounds))]
    cells += ["%+.1f%% (%+.1f to %+.1f)" % slowdown(windows, attribute) for attribute in ("wall", "cpu")]
    cells.append("%.2f%%" % (100 * statistics.median(report[0] for report in reports)) if reports else "?")
    cells.append("%.1f%%" % (100 * statistics.median(profiled.profiler_cpu for _, profiled, _ in windows)))
    seconds = sum(report[2] for report in reports)
    cells.append("%.1f" % (sum(report[1] for report in reports) / seconds) if seconds and not name.startswith("time") else "")
    print("| %s |" % " | ".join(cells), flush=True)


def show_all(rounds):
    print("| program | setting | windows | wall time of a pass | CPU time of a pass | the daemon says | its own CPU time "
          "| followed a second |")
    print("|---|---|---|---|---|---|---|---|")
    programs = [program for program in PROGRAMS if any(entry[0] == program for entry in rounds)]
    for program in programs:
        for name in SETTINGS:
            chosen = [entry for entry in rounds if entry[:2] == [program, name]]
            if chosen:
                show(program, name, chosen)
    # Of each program the median, then all programs alike: none counts for more than another.
    for name in SETTINGS:
        chosen = [[entry for entry in rounds if entry[:2] == [program, name]] for program in programs]
        if len(programs) > 1 and all(chosen):
            windows = [[tuple(switched.Window(*window) for window in entry[2]) for entry in entries] for entries in chosen]
            cells = []
            for attribute in ("wall", "cpu"):
                values = [switched.ratios(entries, attribute) for entries in windows]
                drawn = sorted(statistics.mean(statistics.median(random.choices(some, k=len(some))) for some in values)
                               for _ in range(switched.DRAWS))
                cells.append("%+.1f%% (%+.1f to %+.1f)" % tuple(100 * value - 100 for value in (
                    statistics.mean(map(statistics.median, values)), drawn[switched.DRAWS // 40],
                    drawn[-switched.DRAWS // 40])))
            print("| mean of all | %s | | %s | | | |" % (name, " | ".join(cells)))


def kept(path):
    if not path or not os.path.exists(path):
        return []
    with open(path, encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def is_chosen(program, words):
    return any(word == program if word in PROGRAMS else word in program for word in words.split(","))


def keep(path, entry):
    """At once: whoever lends a machine for a while may end the run in the middle."""
    if path:
        with open(path, "a", encoding="utf-8") as file:
            file.write(json.dumps(entry) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=2, help="length of one window")
    parser.add_argument("--programs", default="", help="only these, or with one of these words in their name")
    parser.add_argument("--settings", default="default,default ptrace", help="of: " + ", ".join(SETTINGS))
    parser.add_argument("--settle", type=float, default=switched.SETTLE, help="from attaching until a window begins")
    parser.add_argument("--keep", help="file that windows are added to, and which the table is of")
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.worker:
        switched.work_until_end(PROGRAMS[arguments.worker]())
        return
    interpreter = default_interpreter()
    print("%s; CPython %s; %d rounds, windows of %g s" % (switched.machine(), interpreter.name, arguments.rounds,
                                                          arguments.seconds))
    settings = arguments.settings.split(",")
    rounds = kept(arguments.keep)
    with tempfile.TemporaryDirectory() as folder:
        for program in PROGRAMS:
            if arguments.rounds and is_chosen(program, arguments.programs):
                for entry in measure(interpreter, program, settings, arguments, folder):
                    rounds.append(entry)
                    keep(arguments.keep, entry)
    show_all(rounds)


if __name__ == "__main__":
    main()
