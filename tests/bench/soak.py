#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A pre-fork web server under load, served by pieprofd that is asked all the time: an hour in miniature.

    tests/bench/soak.py [--pairs N] [--seconds S] [--rate HZ] [--rotate S] [--events N] [--follow] [-- OPTION ...]

gunicorn has two workers. Phases come in pairs, in an order that alternates: bare, and with both workers sampled by a
daemon each (or with --follow all of gunicorn by one), of which two clients take windows of 2 s back to back, and a
third /metrics and /healthz. The daemons live from begin to end, so that it shows whether they grow; while bare they have
let go of their workers (/control/stop), which is checked. What comes behind -- are more options for `serve`.

Latencies are from when a request was due. The ratio of two bare phases, one after the other, stands beside that of the
pairs: it is what the machine does by itself. CPU time a request is steadier than any latency where others are at work.
Then workers are restarted (HUP), and one is killed, bare and sampled, so that what is lost can be compared.

Exit code 1: a request was lost or answered wrongly (but for the one that a killed worker had in hand), or a daemon was
wrong about its worker, or grew. Never for a latency.
"""
import argparse
import concurrent.futures
import contextlib
import gzip
import os
import signal
import statistics
import sys
import tempfile
import threading
import time

from switched import machine

from harness import Failure, Skip, check, check_equal, sanitized, status_of, wait_until
from test_serve import Server, metrics_of
from web_server import LOST, OK, WRONG, Load, WebServer

WINDOWS = ("/debug/pprof/profile?seconds=%g", "/debug/pprof/redundancy?seconds=%g")


def quantile(values, share):
    """The smallest that so large a share is not above."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, max(0, int(share * len(ordered) + 0.999999) - 1))]


def quartiles(values):
    if len(values) < 2:
        return "%.3f" % values[0] if values else "none"
    lower, median, upper = statistics.quantiles(values, n=4, method="inclusive")
    return "%.3f (%.3f to %.3f)" % (median, lower, upper)


class Scraped:
    """A daemon, and who asks it while asking() lasts."""

    def __init__(self, pid, folder, window, arguments):
        self.pid = pid
        self.window = window
        self.windows = 0
        self.flat = []  # (KiB, descriptors) over time, while asked
        self.server = Server(pid, *arguments, listen="unix:" + os.path.join(folder, "%d.sock" % pid))

    def close(self):
        self.server.__exit__()

    def control(self, what):
        self.server.get("/control/" + what, method="POST")

    def metrics(self):
        values, _ = metrics_of(self.server.get("/metrics").decode())
        return values

    def _windows(self, path, ended, problems):
        with noted(problems, path):
            while not ended.is_set():
                status, _, body = self.server.ask(path % self.window)
                check(status == 200, "%s: status %d, %r" % (path % self.window, status, body[:200]))
                check(gzip.decompress(body), "an empty profile")
                self.windows += 1

    def _looks(self, ended, problems):
        with noted(problems, "/metrics"):
            while not ended.wait(0.5):
                self.metrics()
                status, _, body = self.server.ask("/healthz")
                check((status, body) == (200, b"sampling\n"), "/healthz: %d, %r" % (status, body))
                self.flat.append((self.server.memory(), len(self.server.files())))

    @contextlib.contextmanager
    def asking(self, problems):
        ended = threading.Event()
        threads = [threading.Thread(target=self._windows, args=(path, ended, problems)) for path in WINDOWS]
        threads.append(threading.Thread(target=self._looks, args=(ended, problems)))
        for thread in threads:
            thread.start()
        try:
            yield
        finally:
            ended.set()
            for thread in threads:
                thread.join()


@contextlib.contextmanager
def noted(problems, who):
    """For threads: what went wrong is said by whoever waits for them."""
    try:
        yield
    except (Failure, OSError, EOFError, KeyError) as error:
        problems.append("%s: %s" % (who, str(error) or repr(error)))


class Phase:
    """A time of the load, and the CPU time that the workers had in it."""

    def __init__(self, sampled):
        self.sampled = sampled
        self.begin = self.end = self.cpu = 0
        self.latencies = []

    def take(self, records):
        self.latencies = [latency for due, latency, outcome, _ in records
                          if self.begin <= due < self.end and outcome == OK]
        check(self.latencies, "a phase without an answer")

    def figure(self, name):
        if name == "cpu":
            return self.cpu / len(self.latencies)
        return quantile(self.latencies, {"p50": 0.5, "p99": 0.99}[name])


class Soak:
    """Runs it; what it saw is in its attributes once run() is over."""

    def __init__(self, seconds, pairs, events, rate=40, window=2, rotate=5, settle=1, follow=False, bare_events=True,
                 options=()):
        self.seconds, self.pairs, self.events, self.rate, self.settle = seconds, pairs, events, rate, settle
        self.follow, self.bare_events, self.window = follow, bare_events, window
        self.arguments = ["--rotate", "%g" % rotate, *options] + (["--follow"] if follow else [])
        self.problems = []
        self.phases = []
        self.marks = []  # (begin, end, what) of events
        self.daemons = []
        self.ending = []  # their processes have ended, they live a little longer
        self.metrics = []
        self.idle_cpu = 0

    def run(self):
        with contextlib.ExitStack() as stack:
            self.folder = stack.enter_context(tempfile.TemporaryDirectory())
            self.web = stack.enter_context(WebServer())
            load = stack.enter_context(Load(self.web, self.rate))
            stack.callback(lambda: [daemon.close() for daemon in self.daemons + self.ending])
            self.serve()
            for pair in range(self.pairs):
                for sampled in (False, True) if pair % 2 == 0 else (True, False):
                    self.phase(sampled)
            self.measured = list(self.daemons)
            self.metrics = [daemon.metrics() for daemon in self.daemons]
            for _ in range(self.events):
                for sampled in (False, True) if self.bare_events else (True,):
                    for what in ("kill", "restart"):
                        self.event(what, sampled)
            self.records = load.finish()
            for daemon in self.daemons:
                self.let_go(daemon)
            for daemon in self.ending:
                daemon.server.finish()
        for phase in self.phases:
            phase.take(self.records)
        return self

    def serve(self):
        pids = [self.web.pid] if self.follow else self.web.workers()
        self.daemons = []
        for pid in pids:
            self.daemons.append(Scraped(pid, self.folder, self.window, self.arguments))

    def switch(self, sampled):
        for daemon in self.daemons:
            daemon.control("start" if sampled else "stop")
        if not sampled:
            for pid in [self.web.pid] + self.web.workers():
                check_equal(status_of(pid)["TracerPid"], "0", "tracer of process %d while bare" % pid)

    def phase(self, sampled):
        phase = Phase(sampled)
        self.switch(sampled)
        with contextlib.ExitStack() as stack:
            if sampled:
                for daemon in self.daemons:
                    stack.enter_context(daemon.asking(self.problems))
            time.sleep(self.settle)
            daemons_before = self.daemons_cpu()
            before = self.web.cpu_seconds()
            phase.begin = time.monotonic()
            time.sleep(self.seconds)
            phase.end = time.monotonic()
            phase.cpu = self.web.cpu_seconds() - before
            if not sampled:
                self.idle_cpu += self.daemons_cpu() - daemons_before
        self.phases.append(phase)

    def daemons_cpu(self):
        total = 0
        for daemon in self.daemons:
            with open("/proc/%d/stat" % daemon.server.process.pid) as file:
                fields = file.read().rpartition(")")[2].split()
            total += int(fields[11]) + int(fields[12])
        return total / os.sysconf("SC_CLK_TCK")

    def event(self, what, sampled):
        """All workers are restarted, or one is killed."""
        if sampled:
            self.again()
            self.switch(True)
        else:
            for daemon in self.daemons:
                self.let_go(daemon)
            self.daemons = []
        victims = self.web.workers()[:1 if what == "kill" else None]
        begin = time.monotonic()
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            # It says so for some seconds only: somebody looks from before the end on.
            watched = [(daemon, pool.submit(self.says_ended, daemon)) for daemon in self.daemons
                       if daemon.pid in victims]
            if what == "kill":
                os.kill(victims[0], signal.SIGKILL)
            else:
                os.kill(self.web.pid, signal.SIGHUP)
            self.web.wait_ready(victims)
            end = time.monotonic()
            for daemon, watch in watched:
                watch.result()
                self.daemons.remove(daemon)
                self.ending.append(daemon)
        for daemon in self.daemons:
            check_equal(daemon.server.get("/healthz"), b"sampling\n", "/healthz of a process that goes on")
        self.marks.append((begin, end, what, sampled))

    def again(self):
        """A daemon for each worker that has none."""
        pids = [self.web.pid] if self.follow else self.web.workers()
        there = [daemon.pid for daemon in self.daemons]
        for pid in pids:
            if pid not in there:
                self.daemons.append(Scraped(pid, self.folder, self.window, self.arguments))

    def says_ended(self, daemon):
        said = []

        def ended():
            # It answers for some seconds only.
            if daemon.server.process.poll() is None:
                with contextlib.suppress(OSError):
                    said.append(daemon.server.ask("/healthz")[::2])
            return (503, b"ended\n") in said

        wait_until(ended, 40, "the daemon to say that process %d ended" % daemon.pid)

    def let_go(self, daemon):
        daemon.server.finish()
        daemon.close()

    def outcome(self, kind):
        return [record for record in self.records if record[2] == kind]

    def lost_in(self, begin, end):
        """Requests lost that were due then, or under way."""
        return [record for record in self.outcome(LOST) if record[0] <= end and record[0] + record[1] >= begin]

    def flatness(self):
        """For each daemon: medians of memory and descriptors in the first and last quarter of its time, and most."""
        rows = []
        for daemon in self.measured:
            count = max(1, len(daemon.flat) // 4)
            row = []
            for index in range(2):
                values = [sample[index] for sample in daemon.flat]
                row.append((statistics.median(values[:count]), statistics.median(values[-count:]), max(values)))
            rows.append(row)
        return rows

    def pairs_of(self, name):
        phases = [sorted(self.phases[i:i + 2], key=lambda phase: phase.sampled) for i in range(0, len(self.phases), 2)]
        return [sampled.figure(name) / bare.figure(name) for bare, sampled in phases]

    def bare_ratios(self, name):
        bare = [phase.figure(name) for phase in self.phases if not phase.sampled]
        return [second / first for first, second in zip(bare, bare[1:])]

    def verify(self):
        """What must hold, on any machine."""
        check(not self.problems, "; ".join(self.problems[:3]))
        wrong = self.outcome(WRONG)
        check(not wrong, "%d answers are wrong: %s" % (len(wrong), [record[3] for record in wrong[:3]]))
        spared = []
        for begin, end, what, _ in self.marks:
            if what == "kill":
                # A sync worker has one request in hand at most.
                spared += self.lost_in(begin, end)[:1]
        lost = [record for record in self.outcome(LOST) if record not in spared]
        check(not lost, "%d requests of %d are lost: %s" % (len(lost), len(self.records),
                                                            [record[3] for record in lost[:3]]))
        for memory, files in self.flatness():
            # What is freed stays in AddressSanitizer's quarantine for a while.
            check(sanitized() or memory[1] < 1.25 * memory[0] + 4096, "memory of a daemon: %g, then %g KiB" % memory[:2])
            check(files[1] <= files[0] + 4, "descriptors of a daemon: %g, then %g" % files[:2])

    def show(self):
        print("%d requests in %d phases of %g s, %g a second; %d lost, %d wrong" % (
            len(self.records), len(self.phases), self.seconds, self.rate, len(self.outcome(LOST)),
            len(self.outcome(WRONG))))
        for name, words in (("p50", "p50 of latency"), ("p99", "p99 of latency"), ("cpu", "CPU time a request")):
            values = {kind: statistics.median(phase.figure(name) for phase in self.phases if phase.sampled == kind)
                      for kind in (False, True)}
            line = "%-19s bare %6.2f ms, sampled %6.2f ms; ratio of the pairs %s" % (
                words, values[False] * 1e3, values[True] * 1e3, quartiles(self.pairs_of(name)))
            if self.bare_ratios(name):
                line += "; of bare phases in turn %s" % quartiles(self.bare_ratios(name))
            print(line)
        pooled = {sampled: [latency for phase in self.phases if phase.sampled == sampled for latency in phase.latencies]
                  for sampled in (False, True)}
        print("all together         p99 bare %.2f ms of %d, sampled %.2f ms of %d: ratio %.3f" % (
            quantile(pooled[False], 0.99) * 1e3, len(pooled[False]), quantile(pooled[True], 0.99) * 1e3,
            len(pooled[True]), quantile(pooled[True], 0.99) / quantile(pooled[False], 0.99)))
        for daemon, (memory, files), metrics in zip(self.measured, self.flatness(), self.metrics):
            print("daemon of %d: memory %.1f, then %.1f MB, at most %.1f; descriptors %g, then %g, at most %g; "
                  "%d windows, %d rotations" % (
                      (daemon.pid,) + tuple(value / 1024 for value in memory) + files +
                      (daemon.windows, metrics["pieprofd_rotations_total", None])))
            stops = metrics["pieprofd_stop_duration_seconds_count", None]
            print("    %d samples, %d stops, mean %.0f us; time lost %.2f%% of the CPU time and %.3f%% of the wall "
                  "time sampled; own CPU time %.2f s" % (
                      metrics["pieprofd_samples_total", None], stops,
                      1e6 * metrics["pieprofd_stop_duration_seconds_sum", None] / max(1, stops),
                      100 * metrics["pieprofd_overhead_ratio", None],
                      100 * metrics["pieprofd_lost_seconds_total", None] /
                      max(1e-9, metrics["pieprofd_sampled_seconds_total", None]),
                      metrics["process_cpu_seconds_total", None]))
        print("CPU time of the daemons in the bare phases: %.2f s" % self.idle_cpu)
        for what in ("restart", "kill"):
            for sampled in (False, True):
                times = [mark for mark in self.marks if mark[2:] == (what, sampled)]
                if times:
                    print("%s, %s: %d times, %d requests lost" % (
                        what, "sampled" if sampled else "bare", len(times),
                        sum(len(self.lost_in(*mark[:2])) for mark in times)))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--pairs", type=int, default=10)
    parser.add_argument("--seconds", type=float, default=15, help="of a phase")
    parser.add_argument("--rate", type=float, default=40, help="requests a second")
    parser.add_argument("--rotate", type=float, default=5, help="seconds until a daemon's profile begins anew")
    parser.add_argument("--events", type=int, default=3, help="how often workers are restarted, and one killed")
    parser.add_argument("--follow", action="store_true", help="one daemon, of gunicorn and all its children")
    parser.add_argument("options", nargs="*", help="more options for serve, behind --")
    options = parser.parse_args()
    print(machine())
    try:
        soak = Soak(options.seconds, options.pairs, options.events, options.rate, rotate=options.rotate,
                    follow=options.follow, options=options.options).run()
        soak.show()
        print("load of the machine at the end: %.1f" % os.getloadavg()[0])
        soak.verify()
    except Skip as reason:
        print("skipped: %s" % reason)
        return 0
    except Failure as failure:
        print("FAILED: %s" % failure)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
