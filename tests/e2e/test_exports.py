# SPDX-License-Identifier: Apache-2.0
"""Threads in the exports of one recording, by the readers that there are."""
import contextlib
import json
import os
import re
import shutil
import subprocess
import tempfile

from harness import Target, check, check_equal, check_sampled, default_interpreter, go_pprof, pieprofd
from test_formats import read

THREADS = 3
SECONDS = 2


@contextlib.contextmanager
def recorded(target, folder, name, *arguments):
    path = os.path.join(folder, name)
    pieprofd("--pid", target.pid, "-q", "-o", path, *arguments)
    yield path


def rendered(recording, name, *arguments):
    return pieprofd("report", recording, "--format", name, *arguments).stdout


def check_firefox(recording, threads):
    """A track for each thread, where it was in time."""
    root = json.loads(rendered(recording, "firefox"))
    check_equal([thread["tid"] for thread in root["threads"] if thread["tid"] != "unknown"],
                [thread["tid"] or "others" for thread in threads], "tracks")
    for track, thread in zip(root["threads"], threads):
        check_equal(track["name"], thread["name"], "name of a track")
        samples = track["samples"]
        check_equal(samples["time"], sorted(samples["time"]), "order of time")
        total = sum(thread[name + "_ns"] for name in ("python", "native", "system"))
        check(abs(sum(samples["weight"]) * 1e6 - total) <= 0.1 * total + 1e6, "time of %s: %s of %d" % (
            track["name"], sum(samples["weight"]), total))
        check(samples["time"][-1] < 1000 * (SECONDS + 1), "a sample behind the end")


def check_speedscope(recording, threads):
    root = json.loads(rendered(recording, "speedscope"))
    names = [profile["name"] for profile in root["profiles"]]
    expected = ["%s (%d)" % (thread["name"], thread["tid"]) if thread["tid"] else thread["name"] for thread in threads]
    check_equal(names[:1 + len(threads)], ["CPU time"] + expected, "profiles")


def check_pprof(recording, folder, threads):
    """By Google's reader: a tag for each, and one thread alone."""
    path = os.path.join(folder, "x.pb.gz")
    pieprofd("report", recording, "-o", path)
    tags = read(go_pprof(), "-tags", path)
    for thread in threads:
        if thread["tid"]:
            check(re.search(r": %d\n" % thread["tid"], tags), "no tid %d in %s" % (thread["tid"], tags))
            check(thread["name"] in tags, "no %s in %s" % (thread["name"], tags))
    one = read(go_pprof(), "-top", "-tagfocus=tid=^%d$" % threads[0]["tid"], "-unit=ns", path)
    shown = re.search(r"Showing nodes accounting for ([0-9.]+)ns.*?of ([0-9.]+)ns total", one)
    every = read(go_pprof(), "-top", "-unit=ns", path)
    check(shown and "work" in every, one[:300])
    total = sum(threads[0][name + "_ns"] for name in ("python", "native", "system"))
    check(abs(float(shown[1]) - total) <= 0.1 * total, "%s of %d ns of one thread" % (shown[1], total))
    roots = read(go_pprof(), "-tagroot=thread", "-traces", path)
    check(threads[0]["name"] in roots, roots[:300])


def check_collapsed(recording, threads):
    roots = {line.split(";")[1 if line.startswith("[container") else 0] for line in
             rendered(recording, "collapsed").splitlines()}
    for thread in threads:
        check(any(root.startswith("[thread %s" % thread["name"]) for root in roots), "no root for %s in %s" % (
            thread["name"], roots))


def test_threads():
    """Each export has the threads of JSON, with their time."""
    folder = tempfile.mkdtemp(prefix="pieprofd-test-")
    try:
        with Target(default_interpreter(), "threads.py", "--threads", THREADS, "--seconds", 60) as target:
            with recorded(target, folder, "x.pieprof", "-d", SECONDS, "--mode", "time") as recording:
                threads = json.loads(rendered(recording, "json"))["threads"]
        check_sampled(sum(thread["tid"] != 0 for thread in threads) >= THREADS, "threads: %s" % threads)
        threads = [thread for thread in threads
                   if sum(thread[name + "_ns"] for name in ("python", "native", "system"))]
        check_speedscope(recording, threads)
        check_firefox(recording, threads)
        check_pprof(recording, folder, threads)
        check_collapsed(recording, threads)
    finally:
        shutil.rmtree(folder)


def test_tasks():
    """The coroutine that an event loop runs is a tag; what is no task's has none."""
    folder = tempfile.mkdtemp(prefix="pieprofd-test-")
    try:
        with Target(default_interpreter(), "tasks.py", "--spin", stdin=subprocess.PIPE) as target:
            with recorded(target, folder, "x.pb.gz", "-d", 1, "--mode", "time") as path:
                tags = read(go_pprof(), "-tags", "-sample_index=cpu", path)
        found = re.search(r"^ *task: Total .*?\n((?: .*\n)+)", tags, re.M)
        check(found, "no tasks in %s" % tags)
        check_equal(re.findall(r": (\w+)$", found.group(1), re.M), ["run_spin"], "tasks in %s" % tags)
    finally:
        shutil.rmtree(folder)
