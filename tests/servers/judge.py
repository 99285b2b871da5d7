# SPDX-License-Identifier: Apache-2.0
"""A server profiled once, as a user would, and whether the report says what is so."""
import json
import math
import os
import tempfile
import time

from harness import Daemon, Failure, check_undisturbed, check_verdict
from watched import Watch

PLANTED = "# planted"
ATTACHED_WITHIN_S = 1
# Of 100. Of shares, so many standard deviations of the samples' number more.
POINTS, DEVIATIONS = 3, 2
# The sum of a thread's samples is off by so many of them, one standard deviation: 0.5% of 600 (docs/MEASURED.md).
SAMPLES_OFF = 3
CLASSES = ("python_ns", "native_ns", "system_ns")
# A process with less of the CPU time need not be profiled.
BUSY_SHARE = 0.01


def own_time(entry):
    return sum(entry[name] for name in CLASSES)


def rank_of(lines, figure):
    """The planted line's place among all, by this figure; None: it has none of it."""
    ordered = sorted((line for line in lines if figure(line) > 0), key=figure, reverse=True)
    return next((place for place, line in enumerate(ordered, 1) if PLANTED in (line["source"] or "")), None)


def first_sample(report):
    """Seconds from the report's begin, at most: the end of the first slice with a sample in user code."""
    timeline = report["timeline"]
    slices = [number for thread in timeline["threads"]
              for number, python, native in zip(thread["slice"], thread["python_ns"], thread["native_ns"])
              if python + native]
    return (min(slices) + 1) * timeline["slice_ns"] / 1e9 if slices else math.inf


def deviation(share, count):
    return math.sqrt(max(0, share * (1 - share)) / count) if count else 1


def outside(value, least, most):
    """How far it lies outside of what is possible."""
    return value - most if value > most else min(0, value - least)


class Round:
    """What one profile showed; problems: what should be otherwise."""

    def __init__(self, by):
        self.by = by
        self.problems = []

    def take(self, served, seconds):
        pids = served.processes()
        with tempfile.TemporaryDirectory(prefix="pieprofd-servers-") as folder:
            path = os.path.join(folder, "profile.json")
            with Watch(pids, seconds) as watch:
                self.began = time.monotonic()
                with Daemon(*served.chosen(), "-d", seconds, "-o", path) as daemon:
                    watch.daemon = daemon.process.pid
                    daemon.finish(timeout=seconds + 60)
            with open(path) as file:
                self.report = json.load(file)
        check_verdict(self.report, daemon.stdout)
        self.judge_processes(watch, pids)
        self.judge_start()
        self.judge_line()
        for pid in pids:
            try:
                check_undisturbed(pid)
            except (Failure, FileNotFoundError) as failure:
                self.problems.append("process %d afterwards: %s" % (pid, failure))
        return self

    def judge_processes(self, watch, pids):
        """Its times, against the kernel's account."""
        report = self.report
        entries = {entry["pid"]: entry for entry in report.get("processes", [])}
        if not entries:
            entries = {report["target"]["pid"]: report["time_ns"]}
            entries = {pid: {name + "_ns": value for name, value in times.items()} for pid, times in entries.items()}
        self.spans = {pid: watch.span(pid) for pid in entries if pid in watch.looks}
        unknown = sorted(set(entries) - set(watch.looks))
        unseen = sorted(pid for pid, span in self.spans.items() if span is None)
        left = [pid for pid in pids if pid not in entries and
                watch.used(pid) > BUSY_SHARE * sum(map(watch.used, pids))]
        for which, words in ((unknown, "processes of nobody"), (unseen, "not seen traced"), (left, "not profiled")):
            if which:
                self.problems.append("%s: %s" % (words, which))
        self.spans = {pid: span for pid, span in self.spans.items() if span}
        least, most, user, system = (sum(getattr(span, name) for span in self.spans.values())
                                     for name in ("least", "most", "user", "system"))
        self.cpu, self.kernel_cpu = own_sum(report), (least + most) / 2
        samples = report["samples"]
        threads = sum(own_time(thread) > SAMPLES_OFF * self.cpu * 1e9 / max(1, samples) for thread in report["threads"])
        self.cpu_error = self.judge_time("CPU time", report["cpu_ns"] / 1e9, least, most, 0)
        self.sum_error = self.judge_time(
            "sum of %d samples of %d threads" % (samples, threads), self.cpu, least, most,
            DEVIATIONS * 100 * SAMPLES_OFF * math.sqrt(max(1, threads)) / max(1, samples))
        self.share_error = 0
        for pid, span in self.spans.items():
            share = own_time(entries[pid]) / 1e9 / max(self.cpu, 1e-9)
            low, high = span.least / max(most, 1e-9), span.most / max(least, 1e-9)
            error = outside(share, low, high)
            self.share_error = max(self.share_error, error, -error)
            self.allow("process %d's share" % pid, share, error, samples)
        # /proc's division is by ticks, as many as samples or more, and none falls into a switch of threads.
        unseen = sum(own_time(line) for line in report["lines"] if line["file"] == "[kernel]") / 1e9
        self.system = (report["time_ns"]["system"] / 1e9 - unseen) / max(self.cpu - unseen, 1e-9)
        self.kernel_system = system / max(user + system, 1e-9)
        self.allow("the kernel's share", self.kernel_system, self.system - self.kernel_system, samples / 2)

    def judge_time(self, what, seconds, least, most, allowance):
        """How far from /proc's it is, in percent."""
        error = 100 * outside(seconds, least, most) / max(most, 1e-9)
        if abs(error) > POINTS + allowance:
            self.problems.append("%s: %.2f s, %.2f to %.2f s by /proc (%+.1f%%)" % (what, seconds, least, most, error))
        return error

    def allow(self, what, share, error, samples):
        if abs(error) > POINTS / 100 + DEVIATIONS * deviation(share, samples):
            self.problems.append("%s: %+.1f points from /proc's" % (what, 100 * error))

    def judge_start(self):
        """From the command's start: it has read programs and libraries by then, and has looked for children."""
        spans = sorted(self.spans.values(), key=lambda span: span.attached)
        self.attached = self.first_sample = math.inf
        self.kept = 0
        if spans:
            self.attached, self.kept = spans[-1].attached - self.began, spans[-1].kept
            self.first_sample = spans[0].attached - self.began + first_sample(self.report)
        for seconds, what in ((self.attached, "attached"), (self.first_sample, "first sample")):
            # What others' work takes of that is not the daemon's.
            if seconds - self.kept > ATTACHED_WITHIN_S:
                self.problems.append("%s only after %.2f s, %.2f s of them without a processor" % (
                    what, seconds, self.kept))

    def judge_line(self):
        lines = self.report["lines"]
        self.rank_by_time = rank_of(lines, own_time)
        self.rank_by_finding = rank_of(lines, lambda line: line["avoidable_ns"])
        planted = [line for line in lines if PLANTED in (line["source"] or "")]
        self.category = planted[0]["category"] if planted else None
        self.share = sum(line["charged_ns"] for line in planted) / 1e9 / max(self.cpu, 1e-9)
        self.avoidable = sum(line["avoidable_ns"] for line in planted) / 1e9 / max(self.cpu, 1e-9)
        rank = self.rank_by_time if self.by == "time" else self.rank_by_finding
        if rank != 1:
            figure = own_time if self.by == "time" else lambda line: line["avoidable_ns"]
            others = sorted((line for line in lines if figure(line) > 0), key=figure, reverse=True)[:1]
            self.problems.append("the planted line is %s by %s, behind %s" % (rank or "nowhere", self.by, ", ".join(
                "%s:%d (%s)" % (line["file"], line["line"], line["source"]) for line in others) or "none"))

    def __str__(self):
        report = self.report
        return ("%d samples; attached after %.2f s (%.2f s kept waiting), first sample by %.2f s; planted line: %s by "
                "finding, %s by time, %.0f%% of the CPU time, %.0f%% avoidable, %s; CPU time by /proc %.2f s, "
                "reported %+.1f%%, samples' sum %+.1f%%, shares of %d processes within %.1f points, kernel %.1f%%, "
                "/proc %.1f%%" % (
                    report["samples"], self.attached, self.kept, self.first_sample, self.rank_by_finding,
                    self.rank_by_time,
                    100 * self.share, 100 * self.avoidable, self.category, self.kernel_cpu, self.cpu_error,
                    self.sum_error, len(self.spans), 100 * self.share_error, 100 * self.system,
                    100 * self.kernel_system))


def own_sum(report):
    return sum(report["time_ns"].values()) / 1e9
