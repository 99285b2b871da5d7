# SPDX-License-Identifier: Apache-2.0
"""`serve` of several processes: a pre-fork server with its workers, and a service that is started again."""
import concurrent.futures
import json
import os
import re
import shlex
import signal
import subprocess
import tempfile

from harness import MANY_SAMPLES, ROOT, check, check_equal, check_sampled, default_interpreter, status_of, wait_until
from test_returning import let_work, unique, worker
from test_serve import Server, metrics_of, raw_profile

# As pre-fork servers do it: workers that end are replaced; the master sleeps.
PREFORK = """
import os

def first_work():
    while os.getppid() == master:
        sum(range(1000))

def second_work():
    while os.getppid() == master:
        sum(range(1000))

def begin(work):
    pid = os.fork()
    if not pid:
        work()
        os._exit(0)
    workers[pid] = work
    print(pid, flush=True)

master = os.getpid()
workers = {}
begin(first_work)
begin(second_work)
while True:
    pid, status = os.waitpid(-1, 0)
    begin(workers.pop(pid))
"""


def metric(server, name):
    return metrics_of(server.get("/metrics").decode())[0]["pieprofd_" + name, None]


def tracers(pids):
    return [status_of(pid)["TracerPid"] != "0" for pid in pids]


def await_processes(server, count):
    wait_until(lambda: metric(server, "processes") == count, 20, "%d processes to be sampled" % count)


def follow_workers(master, folder):
    first, second = (int(master.stdout.readline()) for _ in range(2))
    with Server(master.pid, "--follow", "--mode", "time", "--rotate", "2", listen="unix:" + folder + "/s") as server:
        await_processes(server, 3)
        # A worker that ends while a window is open is in it, and so is the one that takes its place.
        with concurrent.futures.ThreadPoolExecutor(1) as pool:
            window = pool.submit(server.get, "/debug/pprof/profile?seconds=5")
            wait_until(lambda: metric(server, "windows_open") == 1, what="a window")
            let_work(first, 0.3)
            os.kill(first, signal.SIGKILL)
            third = int(master.stdout.readline())
            raw = raw_profile(folder, window.result())
        check_sampled("first_work" in raw and "second_work" in raw, raw[:2000])
        check_sampled(all("process %d (" % pid in raw for pid in (first, second, third)), raw[:2000])
        check(metric(server, "rotations_total") >= 1, "no session was rotated")
        # The report is of those that live.
        pids = [master.pid, second, third]
        await_processes(server, 3)
        snapshot = json.loads(server.get("/control/snapshot?format=json", method="POST"))
        check_equal(sorted(process["pid"] for process in snapshot["processes"]), sorted(pids), "processes")

        check_equal(json.loads(server.get("/control/stop", method="POST"))["state"], "stopped", "state")
        check_equal(tracers(pids), [False] * 3, "traced while stopped")
        check_equal(json.loads(server.get("/control/start", method="POST"))["state"], "sampling", "state")
        await_processes(server, 3)
        server.finish()
    check_equal(tracers(pids), [False] * 3, "traced at the end")


def test_follow():
    """Master and workers as one, those included that are replaced meanwhile; each has its own frame."""
    with tempfile.TemporaryDirectory() as folder, subprocess.Popen(
            [default_interpreter().path, "-c", PREFORK], stdout=subprocess.PIPE, text=True) as master:
        try:
            follow_workers(master, folder)
        finally:
            master.kill()


def documented_options():
    """Of the service that docs/INSTALL.md shows, for this run's processes."""
    with open(os.path.join(ROOT, "docs", "INSTALL.md"), encoding="utf-8") as file:
        words = shlex.split(re.search(r"^ +OPTIONS=(.*)$", file.read(), re.M).group(1))
    words[words.index("--name") + 1] = unique()
    return words


def test_started_again():
    """A service of two processes that is not there yet, that ends, and that is started again; the server stays."""
    with tempfile.TemporaryDirectory() as folder, \
            Server(None, *documented_options(), "--mode", "time", *MANY_SAMPLES,
                   listen="unix:" + folder + "/s") as server:
        for _ in range(2):
            check_equal(server.get("/healthz", 503), b"waiting\n", "/healthz")
            check(b"waiting" in server.get("/debug/pprof/profile?seconds=1", 503), "no words")
            with worker(unique()) as first, worker(unique()) as second:
                await_processes(server, 2)
                wait_until(lambda: server.ask("/healthz")[0] == 200, what="/healthz to be well")
                check_equal(server.get("/healthz"), b"sampling\n", "/healthz")
                raw = raw_profile(folder, server.get("/debug/pprof/profile?seconds=1"))
                check_sampled(all("process %d (" % process.pid in raw for process in (first, second)) and "work" in raw,
                              raw[:1000])
            wait_until(lambda: server.ask("/healthz")[0] == 503, what="/healthz to tell the end")
        check_equal(metric(server, "sessions_total"), 4, "sessions")
        check_sampled(metric(server, "samples_total") > 20, "counters begin anew with each process")
        server.finish()
